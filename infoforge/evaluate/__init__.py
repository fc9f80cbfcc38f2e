"""How good the lookup is: question sets measured, and one question explained."""

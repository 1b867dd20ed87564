"""What calls read and answer: the rules of fields, the reading of bodies, the base of answers."""

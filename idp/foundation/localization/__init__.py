"""What differs between languages and regions besides texts: times, order of names."""

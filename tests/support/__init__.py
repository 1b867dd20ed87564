"""What several tests share: stand-ins for the clock, for chance and for the outside world."""

"""How fast very many people come in, and what everybody else notices of it."""

"""How clients authenticate, and how they are refused."""

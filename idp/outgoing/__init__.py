"""HTTP and DNS to addresses that others registered, without access to closed networks."""

"""HTTP and DNS to addresses that others registered, guarded against closed networks."""

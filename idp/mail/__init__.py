"""Messages: their texts, the outbox, and delivery by SMTP or the operator's SMS hook."""

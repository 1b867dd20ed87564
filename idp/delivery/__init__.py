"""Sending what lies in the outbox: mail by SMTP, text messages by the operator's own hook."""

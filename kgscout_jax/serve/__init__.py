"""An exported policy as a service: over HTTP (``app``), over MCP (``mcp_server``)."""

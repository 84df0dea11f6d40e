"""When each path of a library routine wins: the pictures of its page."""

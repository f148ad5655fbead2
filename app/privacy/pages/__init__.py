"""Pages of erasure, retention and legal holds, for administrators."""

"""Problems of users' own: Python files whose functions make the data and say which results are right."""

"""Who and what the examples of the OpenAPI document are about: the same everywhere, so that they fit together."""

TEAM_ID = "5b2f0c3e-8a41-4d7c-9f60-2e1d7c9a4b10"
MEMBER_ID = "c7d41a92-3f58-4e0b-8c26-91f0e5b7d304"
FLOW_ID = "8d0e6f4b-71c2-4f3a-a5d9-0b6c2e8f1a37"
INTERVIEW_ID = "e1a95c70-2d6b-4b8f-93e4-7f5a0c1d8b62"
FLOW_TITLE = "Nurse"
ORGANIZATION = "Example Ltd"
EMAIL, FIRST_NAME, LAST_NAME = "robin@example.com", "Robin", "Example"
QUESTIONS = ("Why do you want this job?", "Tell me about your last team.")
ADDRESS = "https://parley.example.com"
"""Where an installation of the examples lives."""

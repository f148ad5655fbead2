"""Everything that hears, speaks or answers; `ports` holds what other rooms may rely on."""

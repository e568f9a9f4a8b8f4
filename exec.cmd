@rem For `npm start` on Windows, whose shell has no exec: see docs/decisions/0008-two-commands.md
@%*

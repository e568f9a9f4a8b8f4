// Long requests one kind after another, and a client with small GETs beside them: the longest CPU gap of the event loop, and the small GETs' p99. Flags: --only WORD, --seconds N.
import { LOADS } from "./stall-loads.ts";
import { soakStalls } from "./stall-soak.ts";

await soakStalls(LOADS);

import { CONTRACT_EXTENT_BYTES, extentsContract } from "../../store/extents.contract.ts";
import { MemoryExtents } from "./extents.ts";

extentsContract("memory", async () => new MemoryExtents(CONTRACT_EXTENT_BYTES));

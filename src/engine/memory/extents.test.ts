import {
  CONTRACT_EXTENT_BYTES,
  extentsContract,
  growingExtentsContract,
} from "../../store/extents.contract.ts";
import { MemoryExtents } from "./extents.ts";

const open = async () => new MemoryExtents(CONTRACT_EXTENT_BYTES);

extentsContract("memory", open);
growingExtentsContract("memory", open);

import { storeContract } from "../../store/store.contract.ts";
import { MemoryStore } from "./store.ts";

storeContract("memory", async (clock) => {
  const store = new MemoryStore(clock);
  return { store, dispose: () => store.close() };
});

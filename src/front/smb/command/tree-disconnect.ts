import { type Answer, type Call, success } from "../call.ts";
import { readEmpty, writeEmpty } from "../codec/empty.ts";

export async function handleTreeDisconnect(call: Call): Promise<Answer> {
  readEmpty(call.message);
  const { session, tree } = call;
  session.trees.delete(tree.id);
  await session.closeOpens((open) => open.treeId === tree.id);
  return success(writeEmpty());
}

import { type Answer, type Call, success } from "../call.ts";
import { readEmpty, writeEmpty } from "../codec/empty.ts";

export async function handleLogoff(call: Call): Promise<Answer> {
  readEmpty(call.message);
  await call.session.close(true);
  return success(writeEmpty());
}

import { type Answer, type Call, success } from "../call.ts";
import { readWrite, writeWrite } from "../codec/write.ts";

export async function handleWrite(call: Call): Promise<Answer> {
  const { fileId, data } = readWrite(call.message);
  const open = call.open(fileId);
  call.expectCharge(data.length);
  await open.write(data);
  return success(writeWrite(data.length));
}

import type { QueueHandler } from "./call.ts";
import { handleClearMessages } from "./clear-messages.ts";
import { handleCreateQueue } from "./create-queue.ts";
import { handleDeleteMessage } from "./delete-message.ts";
import { handleDeleteQueue } from "./delete-queue.ts";
import { handleGetMessages } from "./get-messages.ts";
import { handleGetQueueAcl } from "./get-queue-acl.ts";
import { handleGetQueueMetadata } from "./get-queue-metadata.ts";
import { handleGetServiceProperties } from "./get-service-properties.ts";
import { handleGetServiceStats } from "./get-service-stats.ts";
import { handleGetUserDelegationKey } from "./get-user-delegation-key.ts";
import { handleListMessages } from "./list-messages.ts";
import { handleListQueues } from "./list-queues.ts";
import { handlePeekMessages } from "./peek-messages.ts";
import { handlePutMessage } from "./put-message.ts";
import { handleRestoreMessages } from "./restore-messages.ts";
import type { QueueOperationName } from "./route.ts";
import { handleSetQueueAcl } from "./set-queue-acl.ts";
import { handleSetQueueMetadata } from "./set-queue-metadata.ts";
import { handleSetServiceProperties } from "./set-service-properties.ts";
import { handleUpdateMessage } from "./update-message.ts";

/**
 * The handler of each operation. docs/reference/queue-operations.md lists the same, and a test
 * compares them.
 */
export const QUEUE_HANDLERS: Readonly<Record<QueueOperationName, QueueHandler>> = {
  getServiceProperties: handleGetServiceProperties,
  setServiceProperties: handleSetServiceProperties,
  getServiceStats: handleGetServiceStats,
  getUserDelegationKey: handleGetUserDelegationKey,
  listQueues: handleListQueues,

  createQueue: handleCreateQueue,
  deleteQueue: handleDeleteQueue,
  getQueueMetadata: handleGetQueueMetadata,
  setQueueMetadata: handleSetQueueMetadata,
  getQueueAcl: handleGetQueueAcl,
  setQueueAcl: handleSetQueueAcl,

  putMessage: handlePutMessage,
  getMessages: handleGetMessages,
  peekMessages: handlePeekMessages,
  updateMessage: handleUpdateMessage,
  deleteMessage: handleDeleteMessage,
  clearMessages: handleClearMessages,
  listMessages: handleListMessages,
  restoreMessages: handleRestoreMessages,
};

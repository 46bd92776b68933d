import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readJsonFile, writeJsonFile } from '../../commands/json-file.ts';

/** What of a message outlives the process. */
export interface StoredMessage {
  readonly messageId: string;
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly groupId?: string | undefined;
  readonly deduplicationId?: string | undefined;
  readonly sequenceNumber?: string | undefined;
  /** The trace header of the call that sent it. */
  readonly traceHeader?: string | undefined;
  /** Milliseconds since 1970. */
  readonly sentAt: number;
  /** Hidden until then, milliseconds since 1970. */
  readonly visibleAt: number;
}

/** A queue's messages, a file each: SQS keeps what it has accepted. */
export interface MessageFiles {
  /** The messages of an earlier process, the oldest first. */
  read(): StoredMessage[];
  /** When it returns, the message outlives this process. */
  write(message: StoredMessage): void;
  remove(messageId: string): void;
}

export function messageFiles(directory: string): MessageFiles {
  mkdirSync(directory, { recursive: true });
  const path = (messageId: string) => join(directory, `${messageId}.json`);
  return {
    read() {
      // A writer that was killed left a file with another ending: it had not accepted the message.
      const names = readdirSync(directory).filter((name) => name.endsWith('.json'));
      const messages = names.map((name) => readJsonFile<StoredMessage>(join(directory, name))!);
      return messages.sort(
        (left, right) =>
          (left.sequenceNumber ?? '').localeCompare(right.sequenceNumber ?? '') || left.sentAt - right.sentAt,
      );
    },
    write: (message) => writeJsonFile(path(message.messageId), message),
    remove: (messageId) => rmSync(path(messageId), { force: true }),
  };
}

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What of a message outlives the process. */
export interface StoredMessage {
  readonly messageId: string;
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly groupId?: string;
  readonly deduplicationId?: string;
  readonly sequenceNumber?: string;
  /** Milliseconds since 1970. */
  readonly sentAt: number;
  /** Hidden until then, milliseconds since 1970. */
  readonly visibleAt: number;
}

/** A queue's messages, a file each: SQS keeps what it has accepted. */
export interface MessageFiles {
  /** Those of an earlier process, the oldest first. */
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
      const messages = readdirSync(directory).flatMap((name) => readMessage(join(directory, name)));
      return messages.sort(
        (left, right) =>
          (left.sequenceNumber ?? '').localeCompare(right.sequenceNumber ?? '') || left.sentAt - right.sentAt,
      );
    },
    write: (message) => writeFileSync(path(message.messageId), JSON.stringify(message)),
    remove: (messageId) => rmSync(path(messageId), { force: true }),
  };
}

/** Nothing of a file whose writer was killed: it had not accepted the message. */
function readMessage(file: string): StoredMessage[] {
  try {
    return [JSON.parse(readFileSync(file, 'utf8')) as StoredMessage];
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    rmSync(file);
    return [];
  }
}

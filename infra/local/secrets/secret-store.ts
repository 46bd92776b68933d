import { randomBytes, randomUUID } from 'node:crypto';
import { readJsonFile, writeJsonFile } from '../../commands/json-file.ts';
import type { Principals } from '../iam/principals.ts';
import type { HttpServer } from '../service/http-server.ts';
import { type JsonCall, startJsonService } from '../service/json-service.ts';
import { Refusal } from '../service/refusal.ts';

/** The local Secrets Manager: the part that reads and rotates secrets. */
export interface SecretStore extends HttpServer {
  /** Creates a secret with a random text, as the template asks for, unless it is there. */
  create(arn: string): void;
  /**
   * Makes a new version: calls the function for each step, as Secrets Manager does. Throws what it
   * throws.
   */
  rotate(arn: string, invoke: (event: unknown) => Promise<unknown>): Promise<void>;
}

interface Version {
  readonly value: string;
  /** Seconds since 1970. */
  readonly created: number;
  stages: string[];
}

/** The versions of each secret, by ARN and by id. */
type Secrets = Record<string, Record<string, Version>>;

const maxRequestBytes = 1024 * 1024;

/** Starts it. Secrets are kept in `file`, readable by its owner alone; without one, in memory. */
export async function startSecretStore(principals: Principals, file?: string): Promise<SecretStore> {
  const secrets = (file && readJsonFile<Secrets>(file)) || {};
  const server = await startJsonService({ principals, maxRequestBytes, perform });
  return { ...server, create, rotate };

  function create(arn: string): void {
    if (secrets[arn] !== undefined) return;
    secrets[arn] = { [randomUUID()]: newVersion(randomBytes(32).toString('hex'), ['AWSCURRENT']) };
    save();
  }

  async function rotate(SecretId: string, invoke: (event: unknown) => Promise<unknown>) {
    const ClientRequestToken = randomUUID();
    for (const Step of ['createSecret', 'setSecret', 'testSecret', 'finishSecret']) {
      await invoke({ SecretId, ClientRequestToken, Step });
    }
  }

  function save() {
    if (file !== undefined) writeJsonFile(file, secrets);
  }

  function perform({ operation, body, requireAccess }: JsonCall) {
    const input = JSON.parse(body.toString()) as Record<string, string>;
    const arn = input.SecretId ?? '';
    requireAccess({ action: `secretsmanager:${operation}`, resource: arn });
    const versions = secrets[arn];
    if (versions === undefined) {
      throw new Refusal('ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
    }
    const change = operations[operation];
    if (change === undefined) {
      throw new Refusal('InvalidRequestException', `The local Secrets Manager does not know ${operation}.`);
    }
    const result = change(versions, input);
    if (!/^(Describe|Get)/.test(operation)) save();
    return { ARN: arn, ...result };
  }
}

type Versions = Secrets[string];

/** What each operation does with the versions of its secret, and answers. They throw Refusal. */
const operations: Readonly<Record<string, (versions: Versions, input: Readonly<Record<string, string>>) => object>> = {
  DescribeSecret(versions) {
    const stages = Object.entries(versions).map(([id, version]) => [id, version.stages]);
    return { VersionIdsToStages: Object.fromEntries(stages) };
  },
  GetSecretValue(versions, { VersionId, VersionStage = 'AWSCURRENT' }) {
    const found = Object.entries(versions).find(([id, { stages }]) =>
      VersionId === undefined ? stages.includes(VersionStage) : id === VersionId,
    );
    if (found === undefined) {
      throw new Refusal('ResourceNotFoundException', "Secrets Manager can't find the specified secret value.");
    }
    const [id, { value, stages, created }] = found;
    return { VersionId: id, SecretString: value, VersionStages: stages, CreatedDate: created };
  },
  PutSecretValue(versions, { ClientRequestToken: id = randomUUID(), SecretString = '', VersionStages }) {
    const stages = VersionStages as unknown as string[];
    for (const stage of stages) takeAway(versions, stage);
    versions[id] = newVersion(SecretString, stages);
    return { VersionId: id, VersionStages: stages };
  },
  UpdateSecretVersionStage(versions, { VersionStage = '', MoveToVersionId = '', RemoveFromVersionId }) {
    const from = Object.keys(versions).find((id) => versions[id]!.stages.includes(VersionStage));
    const target = versions[MoveToVersionId];
    if (from !== RemoveFromVersionId || target === undefined) {
      throw new Refusal(
        'InvalidParameterException',
        'The version that the staging label is removed from is another one.',
      );
    }
    takeAway(versions, VersionStage);
    if (VersionStage === 'AWSCURRENT' && from !== undefined) {
      takeAway(versions, 'AWSPREVIOUS');
      versions[from]!.stages.push('AWSPREVIOUS');
    }
    target.stages.push(VersionStage);
    return {};
  },
};

function newVersion(value: string, stages: string[]): Version {
  return { value, created: Date.now() / 1000, stages };
}

/** A staging label is on one version at most. */
function takeAway(versions: Readonly<Record<string, Version>>, stage: string) {
  for (const version of Object.values(versions)) version.stages = version.stages.filter((each) => each !== stage);
}

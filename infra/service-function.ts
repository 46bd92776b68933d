import { cpSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { AssetHashType, type BundlingOptions, DockerImage, Duration, Validations } from 'aws-cdk-lib';
import {
  type AddToPrincipalPolicyResult,
  PolicyDocument,
  PolicyStatement,
  Role,
  ServicePrincipal,
} from 'aws-cdk-lib/aws-iam';
import {
  ApplicationLogLevel,
  Architecture,
  Code,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { type BuildOptions, buildSync } from 'esbuild';
import type { FunctionDescription, Uses } from '../functions/routes.ts';
import type { StageSettings } from './stages.ts';

/** Something that `uses` can name: the service of its actions, its ARN, and the environment that says where it is. */
interface UsableResource {
  readonly service: 'dynamodb' | 's3' | 'secretsmanager' | 'sqs';
  readonly arn: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Where `arn` ends in an asterisk: the finding of cdk-nag, and why it is accepted. */
  readonly wildcard?: { readonly id: string; readonly reason: string };
}

export type UsableResources = { readonly [Name in keyof Uses]?: UsableResource };

export interface ServiceFunctionProps {
  readonly function: FunctionDescription;
  /** What `uses` may name. */
  readonly resources: UsableResources;
  readonly settings: StageSettings;
  /** Configuration beyond what `uses` implies. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** A small ES module that contains everything it needs, with its source map beside it. */
const esModule = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  mainFields: ['module', 'main'],
  minify: true,
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
} as const satisfies BuildOptions;

/**
 * What the SDK imports when an operation streams events. DynamoDB and SQS have no such operation; only the client of S3 loads it at
 * the start. Bundled, it keeps esbuild from leaving out and joining the SDK's modules: an eighth of the start.
 */
const eventStreams = ['@smithy/core/event-streams'];

const functionsDirectory = join(import.meta.dirname, '../functions');

/** In Lambda the SDK needs none of its credential chain but the environment. */
const alias = {
  '@aws-sdk/credential-provider-node': join(functionsDirectory, 'data/dynamodb/environment-credentials.ts'),
};

/**
 * One function of functions/, bundled as an ES module with the AWS SDK in the version that was tested. Its role allows what
 * `uses` says, writing its own log and sending traces; its environment names what it uses.
 */
export class ServiceFunction extends LambdaFunction {
  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    const { uses } = props.function;
    const entry = join(functionsDirectory, `${props.function.entry}.ts`);
    const loadsS3 = importsS3(entry);
    if (loadsS3 && !('Results' in uses)) {
      throw new Error(`${props.function.entry} loads the client of S3, but its \`uses\` do not name Results.`);
    }
    const used = Object.entries(uses).map(([name, actions]) => ({
      ...usableResource(props.resources, name as keyof Uses),
      actions: actions as readonly string[],
    }));
    const logGroup = new LogGroup(scope, `${id}Log`, {
      retention: props.settings.logRetention,
      removalPolicy: props.settings.removalPolicy,
    });
    super(scope, id, {
      code: bundle(entry, loadsS3 ? { alias } : { alias, external: eventStreams }, props.function.files),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: 1024,
      timeout: Duration.seconds(props.function.timeoutSeconds ?? 15),
      tracing: Tracing.ACTIVE,
      loggingFormat: LoggingFormat.JSON,
      applicationLogLevelV2: ApplicationLogLevel.INFO,
      systemLogLevelV2: SystemLogLevel.INFO,
      logGroup,
      role: new FunctionRole(scope, `${id}Role`),
      environment: Object.assign({}, ...used.map((resource) => resource.environment), props.environment),
    });
    this.addToRolePolicy(
      new PolicyStatement({
        actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        resources: [logGroup.logGroupArn],
      }),
    );
    const acknowledgements = Validations.of(this.role!);
    acknowledgements.acknowledge({
      id: 'AwsSolutions-IAM5[Resource::*]',
      reason: 'X-Ray has no resources to name: sending traces can only be allowed on all of it.',
    });
    for (const { service, arn, actions, wildcard } of used) {
      if (wildcard !== undefined) acknowledgements.acknowledge(wildcard);
      this.addToRolePolicy(
        new PolicyStatement({ actions: actions.map((action) => `${service}:${action}`), resources: [arn] }),
      );
    }
  }
}

/** A role that holds its policy itself: a resource of its own for each would exceed the 500 that a stack may have. */
class FunctionRole extends Role {
  readonly #policy: PolicyDocument;

  constructor(scope: Construct, id: string) {
    const policy = new PolicyDocument();
    super(scope, id, {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: { FunctionPolicy: policy },
    });
    this.#policy = policy;
  }

  override addToPrincipalPolicy(statement: PolicyStatement): AddToPrincipalPolicyResult {
    this.#policy.addStatements(statement);
    return { statementAdded: true, policyDependable: this };
  }
}

/**
 * The code of a function: one file, `index.mjs`, and its `files`, where it finds them again: those of packages in `node_modules`
 * beside it. CDK's own NodejsFunction starts npx and esbuild anew for each function, which takes several times as long; and `npm
 * start`, each end-to-end test and each deployment bundle all of them.
 */
export function bundle(entry: string, options: BuildOptions = {}, files: readonly string[] = []): Code {
  const bundling: BundlingOptions = {
    // What CDK would run where esbuild cannot. Esbuild always can, but CDK also tells bundles apart by the command.
    image: DockerImage.fromRegistry('none'),
    command: [entry],
    local: {
      tryBundle(directory) {
        buildSync({ ...esModule, ...options, entryPoints: [entry], outfile: join(directory, 'index.mjs') });
        for (const file of files) {
          const inBundle = file.startsWith('.') ? file : join('node_modules', file);
          cpSync(resolveFile(file, entry), join(directory, inBundle));
        }
        return true;
      },
    },
  };
  return Code.fromAsset(functionsDirectory, { assetHashType: AssetHashType.OUTPUT, bundling });
}

/** Throws when there is no such file. A file of a package is there once the package is installed. */
function resolveFile(file: string, entry: string): string {
  try {
    return createRequire(entry).resolve(file);
  } catch {
    throw new Error(
      `${entry} reads ${file}, which does not exist. If it belongs to a package, \`npm ci\` installs it.`,
    );
  }
}

/** Whether the file, or anything that it imports from functions/, imports the client of S3. */
function importsS3(entry: string): boolean {
  const { metafile } = buildSync({
    entryPoints: [entry],
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    write: false,
    metafile: true,
  });
  return Object.values(metafile.inputs).some(({ imports }) =>
    imports.some(({ path }) => path === '@aws-sdk/client-s3'),
  );
}

/** The id of a function's construct: `ListBatches`. */
export function capitalize(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function usableResource(resources: UsableResources, name: keyof Uses): UsableResource {
  const resource = resources[name];
  if (resource === undefined) throw new Error(`A function uses ${name}, which the stack does not have.`);
  return resource;
}

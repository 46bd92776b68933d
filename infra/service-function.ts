import { join } from 'node:path';
import { Duration, Validations } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  ApplicationLogLevel,
  Architecture,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import { LogLevel, NodejsFunction, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { buildSync } from 'esbuild';
import type { FunctionDescription, Uses } from '../functions/routes.ts';
import type { StageSettings } from './stages.ts';

/** Something that `uses` can name: the service of its actions, its ARN, and the environment that says where it is. */
interface UsableResource {
  readonly service: 'dynamodb' | 's3' | 'sqs';
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

/** A small ES module that contains everything it needs. */
export const esModule = {
  format: OutputFormat.ESM,
  target: 'node24',
  mainFields: ['module', 'main'],
  bundleAwsSDK: true,
  minify: true,
};

/**
 * What the SDK imports when an operation streams events. DynamoDB and SQS have no such operation; only the client of S3 loads it at
 * the start. Bundled, it keeps esbuild from leaving out and joining the SDK's modules: an eighth of the start.
 */
const eventStreams = ['@smithy/core/event-streams'];

const functionsDirectory = join(import.meta.dirname, '../functions');

/**
 * One function of functions/, bundled as an ES module with the AWS SDK in the version that was tested. Its role allows what
 * `uses` says, writing its own log and sending traces; its environment names what it uses.
 */
export class ServiceFunction extends NodejsFunction {
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
      entry,
      depsLockFilePath: join(functionsDirectory, '../package-lock.json'),
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: 1024,
      timeout: Duration.seconds(15),
      tracing: Tracing.ACTIVE,
      loggingFormat: LoggingFormat.JSON,
      applicationLogLevelV2: ApplicationLogLevel.INFO,
      systemLogLevelV2: SystemLogLevel.INFO,
      logGroup,
      role: new Role(scope, `${id}Role`, { assumedBy: new ServicePrincipal('lambda.amazonaws.com') }),
      environment: Object.assign({}, ...used.map((resource) => resource.environment), props.environment),
      bundling: {
        ...esModule,
        sourceMap: true,
        sourcesContent: false,
        logLevel: LogLevel.WARNING,
        externalModules: loadsS3 ? [] : eventStreams,
        esbuildArgs: {
          '--alias:@aws-sdk/credential-provider-node': join(
            functionsDirectory,
            'data/dynamodb/environment-credentials.ts',
          ),
        },
      },
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

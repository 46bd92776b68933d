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
  RecursiveLoop,
  Runtime,
  SystemLogLevel,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { FunctionDescription, Uses } from '../../functions/rights.ts';
import { timeLimits } from '../../functions/time-limits.ts';
import { functionsDirectory, writeBundle, writePage } from './bundles.ts';

/**
 * Something that `uses` can name: the service of its actions, its ARN, and the environment that
 * says where it is.
 */
interface UsableResource {
  readonly service: 'dynamodb' | 's3' | 'secretsmanager' | 'sqs';
  readonly arn: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly conditions?: Readonly<Record<string, object>>;
  /** Where `arn` ends in an asterisk: the finding of cdk-nag, and why it is accepted. */
  readonly wildcard?: { readonly id: string; readonly reason: string };
}

export type UsableResources = { readonly [Name in keyof Uses]?: UsableResource };

interface ServiceFunctionProps {
  readonly function: FunctionDescription;
  /** What `uses` may name. */
  readonly resources: UsableResources;
  /** Shared by the functions of its kind: each line names its function. */
  readonly log: ILogGroup;
  /** Execution environments that are kept for it; it takes no more. */
  readonly reserved?: number | undefined;
  /** The gateway calls it, and decides which calls X-Ray records: see sampling.ts. */
  readonly traced?: boolean;
  /** Its messages may come back to it, more than 16 times: it says when that ends. */
  readonly recursive?: boolean;
  /** Configuration beyond what `uses` implies. */
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * One function of functions/, bundled as an ES module with the AWS SDK in the version that was
 * tested. Its role allows what `uses` says, writing its own log and sending traces; its environment
 * names what it uses.
 */
export class ServiceFunction extends LambdaFunction {
  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    const used = Object.entries(props.function.uses).map(([name, actions]) => ({
      ...usableResource(props.resources, name as keyof Uses),
      actions: actions as readonly string[],
    }));
    super(scope, id, {
      code: codeOf(props.function),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: props.function.memoryMegabytes ?? 1024,
      timeout: Duration.seconds(props.function.timeoutSeconds ?? timeLimits.function),
      ...(props.reserved !== undefined && { reservedConcurrentExecutions: props.reserved }),
      ...(props.recursive === true && { recursiveLoop: RecursiveLoop.ALLOW }),
      tracing: props.traced === true ? Tracing.ACTIVE : Tracing.DISABLED,
      loggingFormat: LoggingFormat.JSON,
      applicationLogLevelV2: ApplicationLogLevel.INFO,
      systemLogLevelV2: SystemLogLevel.INFO,
      logGroup: props.log,
      role: new FunctionRole(scope, `${id}Role`),
      environment: Object.assign({}, ...used.map((resource) => resource.environment), props.environment),
    });
    this.addToRolePolicy(
      new PolicyStatement({
        actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        resources: [props.log.logGroupArn],
      }),
    );
    const acknowledgements = Validations.of(this.role!);
    if (props.traced === true) {
      acknowledgements.acknowledge({
        id: 'AwsSolutions-IAM5[Resource::*]',
        reason: 'X-Ray has no resources to name: sending traces can only be allowed on all of it.',
      });
    }
    for (const { service, arn, actions, conditions, wildcard } of used) {
      // A name without a right.
      if (actions.length === 0) continue;
      if (wildcard !== undefined) acknowledgements.acknowledge(wildcard);
      const allowed = actions.map((action) => `${service}:${action}`);
      this.addToRolePolicy(
        new PolicyStatement({ actions: allowed, resources: [arn], ...(conditions && { conditions }) }),
      );
    }
  }
}

/**
 * A role that holds its policy itself: a resource of its own for each would exceed the 500 that a
 * stack may have.
 */
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
 * The code of a function: its bundle and its `files`, where it finds them again. Files of packages
 * are in `node_modules` beside it. CDK's own NodejsFunction starts npx and esbuild anew for each
 * function, which takes many times as long.
 */
function codeOf(description: FunctionDescription): Code {
  const { entry, files = [], browserEntry } = description;
  const bundling: BundlingOptions = {
    // What CDK would run where esbuild cannot. Esbuild always can, but CDK also distinguishes
    // bundles by the command.
    image: DockerImage.fromRegistry('none'),
    command: [entry],
    local: {
      tryBundle(directory) {
        const source = join(functionsDirectory, `${entry}.ts`);
        for (const file of files) {
          const inBundle = file.startsWith('.') ? file : join('node_modules', file);
          cpSync(resolveFile(file, source), join(directory, inBundle));
        }
        writeBundle(description, directory);
        if (browserEntry !== undefined) writePage(browserEntry, directory);
        return true;
      },
    },
  };
  return Code.fromAsset(functionsDirectory, { assetHashType: AssetHashType.OUTPUT, bundling });
}

/**
 * Throws when there is no such file. A file of a package is there once the package is installed.
 */
function resolveFile(file: string, entry: string): string {
  try {
    return createRequire(entry).resolve(file);
  } catch {
    throw new Error(
      `${entry} reads ${file}, which does not exist. If it belongs to a package, \`npm ci\` installs it.`,
    );
  }
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

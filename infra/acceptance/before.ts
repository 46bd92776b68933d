import { equal, ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Checks } from '../smoke/examine.ts';
import { stackConcurrency } from '../smoke/stack-concurrency.ts';
import { type Acceptance, readResources } from './acceptance.ts';

/** What the CDK notes beside the template for its deployment. */
interface StackProperties {
  readonly templateFile: string;
  readonly stackTemplateAssetObjectUrl: string;
  readonly requiresBootstrapStackVersion: number;
  readonly bootstrapStackVersionSsmParameter: string;
}

/** Lambda refuses to leave fewer unreserved. */
const minUnreserved = 100;

interface Quota {
  readonly name: string;
  /** What the stack needs of it. */
  needs(resources: ReturnType<typeof readResources>): number;
  /** What the account has of it. */
  has(aws: Acceptance['aws']): Promise<number>;
}

const quotas: readonly Quota[] = [
  {
    name: 'concurrent executions',
    needs(Resources) {
      const { reserved } = stackConcurrency({ Resources });
      return reserved === 0 ? 1 : reserved + minUnreserved;
    },
    has: async (aws) => (await aws('lambda', 'get-account-settings')).AccountLimit.ConcurrentExecutions,
  },
  {
    name: 'requests of APIs a second',
    needs(resources) {
      const { MethodSettings = [] } = ofType(resources, 'AWS::ApiGateway::Stage')[0]!.Properties;
      const rates: number[] = MethodSettings.map((each: { ThrottlingRateLimit: number }) => each.ThrottlingRateLimit);
      return Math.max(...rates);
    },
    has: async (aws) => (await aws('apigateway', 'get-account')).throttleSettings.rateLimit,
  },
];

/** Before anything is deployed. */
export const beforeChecks: Checks<Acceptance> = {
  async 'the AWS CLI has credentials'({ aws }) {
    const { Account } = await aws('sts', 'get-caller-identity');
    ok(/^\d{12}$/.test(Account));
  },
  async 'the account and region are bootstrapped for the CDK'({ aws, assembly }) {
    const { requiresBootstrapStackVersion: needed } = stackProperties(assembly);
    const { version } = await readBootstrap(aws, assembly);
    ok(version >= needed, `Version ${version}; ${needed} is needed: npx cdk bootstrap.`);
    return `version ${version}`;
  },
  async 'the account’s quotas are large enough'({ aws, assembly }) {
    const resources = readResources({ assembly });
    const facts: string[] = [];
    for (const { name, needs, has } of quotas) {
      const [needed, there] = [needs(resources), await has(aws)];
      ok(there >= needed, `${name}: the account has ${there}, the stack needs ${needed}.`);
      facts.push(`${name}: ${there}, ${needed} needed`);
    }
    return facts.join('; ');
  },
  async 'CloudFormation reads the template'({ aws, assembly }) {
    const { templateFile, stackTemplateAssetObjectUrl } = stackProperties(assembly);
    const { account, region } = await readBootstrap(aws, assembly);
    const name = stackTemplateAssetObjectUrl
      .replace(/\$\{AWS::AccountId\}/, account)
      .replace(/\$\{AWS::Region\}/, region);
    const { host: bucket } = new URL(name);
    const object = ['--bucket', bucket, '--key', 'acceptance.template.json'];
    await aws('s3api', 'put-object', ...object, '--body', join(assembly, templateFile));
    try {
      const { AWS_ENDPOINT_URL: endpoint } = process.env;
      const place = endpoint === undefined ? `https://${bucket}.s3.${region}.amazonaws.com` : `${endpoint}/${bucket}`;
      const url = `${place}/acceptance.template.json`;
      const { Capabilities } = await aws('cloudformation', 'validate-template', '--template-url', url);
      // With more, `cdk deploy` would give the stack more than a reader of this expects.
      equal(Capabilities.join(), 'CAPABILITY_IAM');
    } finally {
      await aws('s3api', 'delete-object', ...object);
    }
  },
};

function ofType(resources: ReturnType<typeof readResources>, type: string) {
  return Object.values(resources).filter(({ Type }) => Type === type);
}

function stackProperties(assembly: string): StackProperties {
  const { artifacts } = JSON.parse(readFileSync(join(assembly, 'manifest.json'), 'utf8'));
  const all = Object.values(artifacts) as { type: string; properties: StackProperties }[];
  return all.find(({ type }) => type === 'aws:cloudformation:stack')!.properties;
}

async function readBootstrap(aws: Acceptance['aws'], assembly: string) {
  const { bootstrapStackVersionSsmParameter: name } = stackProperties(assembly);
  const { Parameter } = await aws('ssm', 'get-parameter', '--name', name);
  const [, , , region = '', account = ''] = String(Parameter.ARN).split(':');
  return { version: Number(Parameter.Value), region, account };
}

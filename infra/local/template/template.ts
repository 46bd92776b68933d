import { SetupProblem } from '../../commands/setup-problem.ts';
import type { AccountContext } from './resource-types.ts';
import { type ResourceIdentity, resourceTypes } from './resource-types.ts';

/** The parts of a CloudFormation template that are read here. */
export interface Template {
  readonly Parameters?: Readonly<Record<string, { readonly Default?: unknown }>>;
  readonly Resources: Readonly<Record<string, TemplateResource>>;
  readonly Outputs?: Readonly<Record<string, { readonly Value: unknown }>>;
}

interface TemplateResource {
  readonly Type: string;
  readonly Condition?: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}

/**
 * A resource of the template: its properties with every intrinsic resolved, its own reference and
 * attributes.
 */
export interface Resource extends ResourceIdentity {
  readonly logicalId: string;
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: the shape depends on the resource's type.
  readonly properties: any;
}

/** The template with every intrinsic resolved. */
export interface ResolvedTemplate {
  readonly resources: readonly Resource[];
  readonly outputs: Readonly<Record<string, string>>;
}

/**
 * The resources and outputs of the template as they would be in an account. Physical names, ARNs
 * and URLs are derived from the stack's name and the logical id, so they are the same at every
 * start. Throws SetupProblem for an unknown resource type, intrinsic, attribute or pseudo
 * parameter: a guess would hide a mistake in the template.
 */
export function readTemplate(template: Template, account: AccountContext): ResolvedTemplate {
  const resolver = new TemplateResolver(template, account);
  const resources = Object.entries(template.Resources).map(([logicalId, { Type, Properties = {} }]) => ({
    logicalId,
    type: Type,
    ...resolver.identify(logicalId),
    properties: resolver.resolve(Properties),
  }));
  const outputs = Object.entries(template.Outputs ?? {}).map(
    ([name, { Value }]) => [name, String(resolver.resolve(Value))] as const,
  );
  return { resources, outputs: Object.fromEntries(outputs) };
}

/** Replaces CloudFormation's intrinsic functions by their values. */
class TemplateResolver {
  readonly #template: Template;
  readonly #account: AccountContext;

  constructor(template: Template, account: AccountContext) {
    this.#template = template;
    this.#account = account;
  }

  identify(logicalId: string): ResourceIdentity {
    const resource = this.#template.Resources[logicalId];
    if (resource === undefined) {
      throw new SetupProblem(`The template refers to ${logicalId}, which it does not declare.`);
    }
    if (resource.Condition !== undefined) {
      throw new SetupProblem(`The local stack does not know conditions, as ${logicalId} has one.`);
    }
    const identityOf = resourceTypes[resource.Type];
    if (identityOf === undefined) {
      throw new SetupProblem(`The local stack does not know the resource type ${resource.Type} (${logicalId}).`);
    }
    return identityOf(`${this.#account.stackName}-${logicalId}`, this.#account, resource.Properties ?? {});
  }

  /**
   * The value with all intrinsics within it resolved; members that resolve to `AWS::NoValue` are
   * left out.
   */
  resolve(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => this.resolve(each)).filter((each) => each !== undefined);
    if (typeof value !== 'object' || value === null) return value;
    const [name, ...otherNames] = Object.keys(value);
    if (name !== undefined && otherNames.length === 0 && (name === 'Ref' || name.startsWith('Fn::'))) {
      return this.#resolveIntrinsic(name, (value as Record<string, unknown>)[name]);
    }
    return Object.fromEntries(
      Object.entries(value)
        .map(([key, each]) => [key, this.resolve(each)] as const)
        .filter(([, each]) => each !== undefined),
    );
  }

  // biome-ignore lint/suspicious/noExplicitAny: each intrinsic has its own argument.
  #resolveIntrinsic(name: string, argument: any): unknown {
    switch (name) {
      case 'Ref':
        return this.#reference(argument);
      case 'Fn::GetAtt': {
        const [logicalId, attribute] = typeof argument === 'string' ? argument.split('.', 2) : argument;
        return this.#attribute(logicalId, attribute);
      }
      case 'Fn::Join':
        return (this.resolve(argument[1]) as unknown[]).join(argument[0]);
      case 'Fn::Split':
        return String(this.resolve(argument[1])).split(argument[0]);
      case 'Fn::Select':
        return (this.resolve(argument[1]) as unknown[])[Number(argument[0])];
      case 'Fn::Sub':
        return this.#substitute(argument);
      default:
        throw new SetupProblem(`The local stack does not know the intrinsic ${name}.`);
    }
  }

  #reference(name: string): unknown {
    const { accountId, region, stackName } = this.#account;
    switch (name) {
      case 'AWS::AccountId':
        return accountId;
      case 'AWS::Region':
        return region;
      case 'AWS::Partition':
        return 'aws';
      case 'AWS::URLSuffix':
        return 'amazonaws.com';
      case 'AWS::StackName':
        return stackName;
      case 'AWS::StackId':
        return `arn:aws:cloudformation:${region}:${accountId}:stack/${stackName}/local`;
      case 'AWS::NoValue':
        return undefined;
    }
    const parameter = this.#template.Parameters?.[name];
    if (parameter === undefined) return this.identify(name).ref;
    if (parameter.Default === undefined) throw new SetupProblem(`The template's parameter ${name} has no default.`);
    return parameter.Default;
  }

  #attribute(logicalId: string, name: string): string {
    const value = this.identify(logicalId).attributes[name];
    if (value === undefined) {
      throw new SetupProblem(`The local stack does not know the attribute ${logicalId}.${name}.`);
    }
    return value;
  }

  #substitute(argument: string | [string, Record<string, unknown>]): string {
    const [text, values] = typeof argument === 'string' ? [argument, {}] : argument;
    return text.replace(/\$\{(!?)([^}]+)\}/g, (_, literal: string, name: string) => {
      if (literal === '!') return `\${${name}}`;
      if (Object.hasOwn(values, name)) return String(this.resolve(values[name]));
      const [logicalId = '', ...path] = name.split('.');
      return String(path.length > 0 ? this.#attribute(logicalId, path.join('.')) : this.#reference(name));
    });
  }
}

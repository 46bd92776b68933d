import { Duration, RemovalPolicy, Size, Stack, Validations } from 'aws-cdk-lib';
import {
  AccessLogFormat,
  ApiDefinition,
  type CfnRestApi,
  EndpointType,
  LogGroupLogDestination,
  type MethodDeploymentOptions,
  MethodLoggingLevel,
  SpecRestApi,
} from 'aws-cdk-lib/aws-apigateway';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';
import { otherFunctions } from '../../functions/other-functions.ts';
import type { FunctionDescription } from '../../functions/rights.ts';
import { type Route, type RouteName, routes } from '../../functions/routes.ts';
import { apiBody } from './api-body.ts';
import { type CustomDomain, createCustomDomain, tls } from './custom-domain.ts';
import type { ConsoleSignIn, TokenIssuer } from './identity.ts';
import { createLog } from './logs.ts';
import { sampleRequests } from './sampling.ts';
import { capitalize, ServiceFunction, type UsableResources } from './service-function.ts';
import { burstOf, openFunctions, rateClass, type StageSettings } from './stages.ts';

interface ApiProps {
  readonly settings: StageSettings;
  readonly resources: UsableResources;
  readonly tokenIssuer: TokenIssuer;
  /** Undefined: the console has no sign-in. */
  readonly consoleSignIn: ConsoleSignIn | undefined;
  readonly domain: CustomDomain | undefined;
  /** The ARN of a web ACL that judges every request first. */
  readonly webAcl: string | undefined;
}

/**
 * The first segment of every path: one of the public clients puts it behind the base URL, others
 * have it in theirs.
 */
const stageName = 'core-fast';

/**
 * How long the gateway keeps the authorizer's answer for a token. Functions check the token's
 * expiry themselves.
 */
const authorizerCacheTime = Duration.seconds(60);

/** How long a link to a job's results is valid. */
const resultsLinkValidity = Duration.minutes(5);

type FunctionName = RouteName | 'authorizer' | 'methodNotAllowed';

/**
 * The REST API, whose body holds the routes, the authorizer in front of routes that are not public,
 * and the gateway's own answers; and a function for each route.
 */
export class Api extends Construct {
  readonly restApi: SpecRestApi;
  /** Without a trailing slash: a route's path follows it. */
  readonly url: string;
  /** What the DNS must lead the custom domain to. */
  readonly domainTarget: string | undefined;
  readonly functionsLog: LogGroup;
  readonly authorizerLog: LogGroup;
  readonly accessLog: LogGroup;
  /** Why an authorizer or an integration failed, in the gateway's own words. */
  readonly errorLog: LogGroup;
  readonly functions: Readonly<Record<FunctionName, ServiceFunction>>;

  constructor(scope: Construct, id: string, props: ApiProps) {
    super(scope, id);
    const { settings, resources, tokenIssuer, consoleSignIn, domain, webAcl } = props;
    const configuration: Partial<Record<FunctionName, Record<string, string>>> = {
      authorizer: { ISSUER: tokenIssuer.issuer, AUDIENCE: tokenIssuer.audience, JWKS_URI: tokenIssuer.jwksUri },
      getConsole: consoleEnvironment(tokenIssuer, consoleSignIn),
      getResultsLink: { RESULTS_LINK_SECONDS: String(resultsLinkValidity.toSeconds()) },
    };
    this.functionsLog = createLog(this, 'FunctionsLog', settings);
    this.authorizerLog = createLog(this, 'AuthorizerLog', settings);
    const { authorizer, methodNotAllowed } = otherFunctions;
    this.functions = Object.fromEntries(
      Object.entries<FunctionDescription>({ authorizer, methodNotAllowed, ...routes }).map(([name, description]) => [
        name,
        new ServiceFunction(this, capitalize(name), {
          function: description,
          resources,
          log: name === 'authorizer' ? this.authorizerLog : this.functionsLog,
          traced: true,
          reserved: reservedFor(name as FunctionName, settings),
          environment: configuration[name as FunctionName] ?? {},
        }),
      ]),
    ) as typeof this.functions;
    this.accessLog = createLog(this, 'AccessLog', settings);
    this.restApi = createRestApi(this, settings);
    this.errorLog = createErrorLog(this, this.restApi, settings);
    const { region, stackName, urlSuffix } = Stack.of(this);
    sampleRequests(this, { apiName: stackName, stageName });
    this.domainTarget = domain && createCustomDomain(this, domain, { restApi: this.restApi, basePath: stageName });
    const host = domain?.name ?? `${this.restApi.restApiId}.execute-api.${region}.${urlSuffix}`;
    this.url = `https://${host}/${stageName}`;
    if (webAcl !== undefined) {
      const resourceArn = this.restApi.deploymentStage.stageArn;
      new CfnWebACLAssociation(this, 'WebAcl', { resourceArn, webAclArn: webAcl });
    }
  }
}

function consoleEnvironment(
  { issuer, audience }: TokenIssuer,
  signIn: ConsoleSignIn | undefined,
): Record<string, string> {
  if (signIn === undefined) return { ISSUER: issuer };
  const { clientId, tokenOrigin } = signIn;
  return {
    ISSUER: issuer,
    CONSOLE_CLIENT_ID: clientId,
    // Cognito's tokens are for the client that asks. Others name an API, which they are asked for.
    ...(tokenOrigin === undefined ? { CONSOLE_AUDIENCE: audience.split(',')[0]! } : { TOKEN_ORIGIN: tokenOrigin }),
  };
}

function reservedFor(name: FunctionName, settings: StageSettings): number | undefined {
  if (settings.reserved === undefined) return undefined;
  if (name === 'authorizer' || name === 'testWebhook') return settings.reserved[name];
  if (!openFunctions.includes(name)) return undefined;
  return burstOf(name === 'methodNotAllowed' ? undefined : routes[name], settings);
}

function createRestApi(api: Api, settings: StageSettings): SpecRestApi {
  const { partition, region, stackName } = Stack.of(api);
  const body = apiBody({
    title: stackName,
    authorizerCacheSeconds: authorizerCacheTime.toSeconds(),
    role: createGatewayRole(api).roleArn,
    invocationUri: (name) =>
      `arn:${partition}:apigateway:${region}:lambda:path/2015-03-31/functions/${api.functions[name].functionArn}/invocations`,
  });
  const restApi = new SpecRestApi(api, 'RestApi', {
    restApiName: stackName,
    // What an import does not understand, it would otherwise leave out without a word.
    failOnWarnings: true,
    apiDefinition: ApiDefinition.fromInline(body),
    endpointTypes: [EndpointType.REGIONAL],
    // An import creates an edge endpoint where it is not asked for another.
    parameters: { endpointConfigurationTypes: EndpointType.REGIONAL },
    // The body has both, too: an import reads them there, CloudFormation here.
    minCompressionSize: Size.bytes(body['x-amazon-apigateway-minimum-compression-size']),
    binaryMediaTypes: body['x-amazon-apigateway-binary-media-types'],
    // API Gateway needs one role for the whole account and region to write logs. It outlives the
    // stack, as others may rely on it.
    cloudWatchRole: true,
    cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN,
    deployOptions: {
      stageName,
      tracingEnabled: true,
      ...methodSettings(settings),
      methodOptions: ratesOfRoutes(settings),
      accessLogDestination: new LogGroupLogDestination(api.accessLog),
      accessLogFormat: AccessLogFormat.custom(JSON.stringify(accessLogEntry)),
    },
  });
  restApi.node.tryRemoveChild('Endpoint');
  // The body has these, too.
  const cfnRestApi = restApi.node.defaultChild as CfnRestApi;
  cfnRestApi.securityPolicy = tls.securityPolicy;
  cfnRestApi.endpointAccessMode = tls.endpointAccessMode;
  acknowledgeFindings(restApi);
  return restApi;
}

/** What holds for the methods of a route, or of all that have no settings of their own. */
function methodSettings(settings: StageSettings, route?: Route): MethodDeploymentOptions {
  return {
    // Detailed metrics would cost 0.30 $ a month for each of five metrics of each method; nothing
    // reads them.
    metricsEnabled: false,
    // Errors only, never data. Nothing else records why an authorizer or an integration failed.
    loggingLevel: MethodLoggingLevel.ERROR,
    dataTraceEnabled: false,
    throttlingRateLimit: settings.throttle[route === undefined ? 'others' : rateClass(route)],
    throttlingBurstLimit: burstOf(route, settings),
  };
}

/** A method with settings of its own takes none from the stage, so each has them all. */
function ratesOfRoutes(settings: StageSettings): Record<string, MethodDeploymentOptions> {
  return Object.fromEntries(
    Object.values<Route>(routes)
      .filter((route) => rateClass(route) !== 'others')
      .map((route) => [`${route.path}/${route.method}`, methodSettings(settings, route)]),
  );
}

function acknowledgeFindings(restApi: SpecRestApi) {
  Validations.of(restApi).acknowledge(
    {
      id: 'AwsSolutions-APIG2',
      reason:
        'The functions validate, and report all faults of a request at once; the gateway would report one, in another form.',
    },
    {
      id: 'AwsSolutions-APIG3',
      reason:
        'A web ACL with its rules and its cost belongs to the account; the setting webAcl associates it with the stage.',
    },
    {
      id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]',
      reason: 'AWS made this policy for this very role: API Gateway writes its logs with it.',
    },
  );
}

/**
 * The role in which the gateway calls the functions of the API, and can do nothing else. A
 * permission for each function would be a resource each. Its trust has no `aws:SourceAccount`: API
 * Gateway does not send it (github.com, pull request 479 of
 * aws-solutions-library-samples/accelerated-intelligent-document-processing-on-aws).
 */
function createGatewayRole(api: Api): Role {
  const call = new PolicyStatement({
    actions: ['lambda:InvokeFunction'],
    resources: Object.values(api.functions).map(({ functionArn }) => functionArn),
  });
  return new Role(api, 'GatewayRole', {
    assumedBy: new ServicePrincipal('apigateway.amazonaws.com'),
    inlinePolicies: { CallFunctions: new PolicyDocument({ statements: [call] }) },
  });
}

/** API Gateway would create a log of this name itself, and never delete its lines. */
function createErrorLog(scope: Construct, restApi: SpecRestApi, settings: StageSettings): LogGroup {
  const errorLog = createLog(scope, 'ErrorLog', settings, {
    logGroupName: `API-Gateway-Execution-Logs_${restApi.restApiId}/${stageName}`,
  });
  restApi.deploymentStage.node.addDependency(errorLog);
  return errorLog;
}

/**
 * One line of the access log: who asked for what, the answer, how long it took and, where the
 * gateway itself failed, why. The gateway escapes nothing, so texts that callers choose stay out: a
 * quote in the user agent would make the line unreadable. Clients can choose `requestId`;
 * `extendedRequestId` is always the gateway's own.
 */
const accessLogEntry = {
  requestId: '$context.requestId',
  extendedRequestId: '$context.extendedRequestId',
  traceId: '$context.xrayTraceId',
  time: '$context.requestTimeEpoch',
  userId: '$context.authorizer.principalId',
  ip: '$context.identity.sourceIp',
  method: '$context.httpMethod',
  route: '$context.resourcePath',
  status: '$context.status',
  latency: '$context.responseLatency',
  integrationLatency: '$context.integrationLatency',
  authorizerLatency: '$context.authorizer.latency',
  responseLength: '$context.responseLength',
  responseType: '$context.error.responseType',
  error: '$context.error.message',
  integrationError: '$context.integrationErrorMessage',
};

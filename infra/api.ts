import { Duration, RemovalPolicy, Size, Stack, Validations } from 'aws-cdk-lib';
import {
  AccessLogFormat,
  AuthorizationType,
  type CfnMethod,
  type CfnRestApi,
  ContentHandling,
  EndpointAccessMode,
  EndpointType,
  type IResource,
  LambdaIntegration,
  LogGroupLogDestination,
  MethodLoggingLevel,
  type MethodOptions,
  ResponseType,
  RestApi,
  SecurityPolicy,
  TokenAuthorizer,
} from 'aws-cdk-lib/aws-apigateway';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { type FunctionDescription, otherFunctions, type Route, type RouteName, routes } from '../functions/routes.ts';
import { type GatewayAnswer, gatewayAnswers, gatewayBody } from './gateway-responses.ts';
import type { TokenIssuer } from './identity.ts';
import { capitalize, ServiceFunction, type UsableResources } from './service-function.ts';
import type { StageSettings } from './stages.ts';

interface ApiProps {
  readonly settings: StageSettings;
  readonly resources: UsableResources;
  readonly tokenIssuer: TokenIssuer;
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
 * The REST API: a method and a function for each route, the authorizer in front of those that are
 * not public, and the gateway's own answers.
 */
export class Api extends Construct {
  readonly restApi: RestApi;
  /** Without a trailing slash: a route's path follows it. */
  readonly url: string;
  readonly accessLog: LogGroup;
  /** Why an authorizer or an integration failed, in the gateway's own words. */
  readonly errorLog: LogGroup;
  readonly functions: Readonly<Record<FunctionName, ServiceFunction>>;

  constructor(scope: Construct, id: string, { settings, resources, tokenIssuer }: ApiProps) {
    super(scope, id);
    this.accessLog = new LogGroup(this, 'AccessLog', logProps(settings));
    this.restApi = createRestApi(this, settings, this.accessLog);
    this.errorLog = createErrorLog(this, this.restApi, settings);
    const { region, urlSuffix } = Stack.of(this);
    this.url = `https://${this.restApi.restApiId}.execute-api.${region}.${urlSuffix}/${stageName}`;

    const configuration: Partial<Record<FunctionName, Record<string, string>>> = {
      authorizer: { ISSUER: tokenIssuer.issuer, AUDIENCE: tokenIssuer.audience, JWKS_URI: tokenIssuer.jwksUri },
      getResultsLink: { RESULTS_LINK_SECONDS: String(resultsLinkValidity.toSeconds()) },
    };
    const { authorizer, methodNotAllowed } = otherFunctions;
    this.functions = Object.fromEntries(
      Object.entries<FunctionDescription>({ authorizer, methodNotAllowed, ...routes }).map(([name, description]) => [
        name,
        new ServiceFunction(this, capitalize(name), {
          function: description,
          resources,
          settings,
          environment: configuration[name as FunctionName] ?? {},
        }),
      ]),
    ) as typeof this.functions;
    this.#addMethods();
  }

  /**
   * Requests that match no route go to one function, those to unknown paths included: API Gateway
   * itself would take the bearer token of such a request for a broken AWS signature and answer 403
   * instead of 404.
   */
  #addMethods() {
    const { authorizer, methodNotAllowed } = this.functions;
    const withToken: MethodOptions = {
      authorizationType: AuthorizationType.CUSTOM,
      authorizer: new TokenAuthorizer(this, 'TokenAuthorizer', {
        handler: authorizer,
        resultsCacheTtl: authorizerCacheTime,
      }),
    };
    const methods = new Map<IResource, string[]>();
    for (const [name, route] of Object.entries<Route>(routes)) {
      const resource = this.restApi.root.resourceForPath(route.path);
      const integration = new LambdaIntegration(this.functions[name as RouteName], { allowTestInvoke: false });
      const method = resource.addMethod(route.method, integration, route.public ? {} : withToken);
      if (route.public) Validations.of(method).acknowledge(answersWithoutToken);
      methods.set(resource, [...(methods.get(resource) ?? []), route.method]);
    }
    const noRoute = new LambdaIntegration(methodNotAllowed, { scopePermissionToMethod: false });
    const unknownPaths = [this.restApi.root, this.restApi.root.addResource('{path+}')];
    for (const resource of [...methods.keys(), ...unknownPaths]) {
      Validations.of(resource.addMethod('ANY', noRoute)).acknowledge(answersWithoutToken);
    }
    for (const [resource, allowMethods] of methods) {
      // From any origin: unlike a cookie, a token is never sent by the browser on its own.
      const preflight = resource.addCorsPreflight({
        allowOrigins: ['*'],
        allowMethods,
        allowHeaders: ['Authorization', 'Content-Type', 'Content-Encoding', 'Idempotency-Key'],
        maxAge: Duration.hours(1),
      });
      // A mock integration reads its request by a template, which fails on a binary body, also on
      // an empty one.
      const method = preflight.node.defaultChild as CfnMethod;
      method.addPropertyOverride('Integration.ContentHandling', ContentHandling.CONVERT_TO_TEXT);
    }
  }
}

const answersWithoutToken = {
  id: 'AwsSolutions-APIG4',
  reason:
    'Public on purpose: it answers with what anyone may know: the health, the API’s description, the devices, a 404 or a 405.',
};

function createRestApi(scope: Construct, settings: StageSettings, accessLog: LogGroup): RestApi {
  const restApi = new RestApi(scope, 'RestApi', {
    restApiName: Stack.of(scope).stackName,
    endpointTypes: [EndpointType.REGIONAL],
    // A request body smaller than this would reach the function as it was sent: still compressed.
    minCompressionSize: Size.bytes(0),
    // Bodies reach the functions as bytes: text would arrive with U+FFFD in place of what is not
    // UTF-8.
    binaryMediaTypes: ['*/*'],
    // API Gateway needs one role for the whole account and region to write logs. It outlives the
    // stack, as others may rely on it.
    cloudWatchRole: true,
    cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN,
    deployOptions: {
      stageName,
      tracingEnabled: true,
      // Detailed metrics would cost 0.30 $ a month for each of five metrics of each method; nothing
      // reads them.
      metricsEnabled: false,
      // Errors only, never data. Nothing else records why an authorizer or an integration failed.
      loggingLevel: MethodLoggingLevel.ERROR,
      dataTraceEnabled: false,
      throttlingRateLimit: settings.throttle.rate,
      throttlingBurstLimit: settings.throttle.burst,
      accessLogDestination: new LogGroupLogDestination(accessLog),
      accessLogFormat: AccessLogFormat.custom(JSON.stringify(accessLogEntry)),
    },
  });
  restApi.node.tryRemoveChild('Endpoint');
  // Without these a regional endpoint accepts TLS 1.0. Strict: the name in the TLS handshake must
  // be the endpoint's own.
  const cfnRestApi = restApi.node.defaultChild as CfnRestApi;
  cfnRestApi.securityPolicy = SecurityPolicy.TLS13_1_2_PQ_2025_09;
  cfnRestApi.endpointAccessMode = EndpointAccessMode.STRICT;
  Validations.of(restApi).acknowledge(
    {
      id: 'AwsSolutions-APIG2',
      reason:
        'The functions validate, and report all faults of a request at once; the gateway would report one, in another form.',
    },
    {
      id: 'AwsSolutions-APIG3',
      reason:
        'A web ACL with its rules and its cost belongs to the account; it can be associated with the stage from outside.',
    },
    {
      id: 'AwsSolutions-COG4',
      reason:
        'A Lambda authorizer verifies the tokens, of the Cognito user pool or of any other OpenID Connect issuer.',
    },
    {
      id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]',
      reason: 'AWS made this policy for this very role: API Gateway writes its logs with it.',
    },
  );
  for (const [type, answer] of Object.entries<GatewayAnswer>(gatewayAnswers)) addGatewayResponse(restApi, type, answer);
  return restApi;
}

/** API Gateway would create a log of this name itself, and never delete its lines. */
function createErrorLog(scope: Construct, restApi: RestApi, settings: StageSettings): LogGroup {
  const errorLog = new LogGroup(scope, 'ErrorLog', {
    logGroupName: `API-Gateway-Execution-Logs_${restApi.restApiId}/${stageName}`,
    ...logProps(settings),
  });
  restApi.deploymentStage.node.addDependency(errorLog);
  return errorLog;
}

function logProps(settings: StageSettings) {
  return { retention: settings.logRetention, removalPolicy: settings.removalPolicy };
}

function addGatewayResponse(restApi: RestApi, type: string, answer: GatewayAnswer) {
  const constants = {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': 'X-Request-Id',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...answer.headers,
  };
  restApi.addGatewayResponse(type, {
    type: ResponseType.of(type),
    statusCode: String(answer.status),
    responseHeaders: {
      ...Object.fromEntries(Object.entries(constants).map(([name, value]) => [name, `'${value}'`])),
      'X-Request-Id': 'context.requestId',
    },
    templates: { 'application/json': JSON.stringify(gatewayBody(answer)) },
  });
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

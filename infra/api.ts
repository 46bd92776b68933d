import { Duration, RemovalPolicy, Size, Stack } from 'aws-cdk-lib';
import {
  AccessLogFormat,
  AuthorizationType,
  EndpointType,
  LambdaIntegration,
  LogGroupLogDestination,
  MethodLoggingLevel,
  type Resource,
  ResponseType,
  RestApi,
  TokenAuthorizer,
} from 'aws-cdk-lib/aws-apigateway';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { otherFunctions, type Route, routes } from '../functions/routes.ts';
import { type GatewayAnswer, gatewayAnswers, gatewayBody } from './gateway-responses.ts';
import type { TokenIssuer } from './identity.ts';
import { ServiceFunction, type UsableResources } from './service-function.ts';
import type { StageName, StageSettings } from './stages.ts';

interface ApiProps {
  readonly stage: StageName;
  readonly settings: StageSettings;
  readonly resources: UsableResources;
  readonly tokenIssuer: TokenIssuer;
}

/** How long a link to a job's results is valid. */
const resultsLinkValidity = Duration.minutes(5);

/** The REST API: its routes, each with its function, the authorizer before those that are not public, and its own answers. */
export class Api extends Construct {
  readonly restApi: RestApi;
  /** Without a trailing slash: a route's path follows it. */
  readonly url: string;
  readonly accessLog: LogGroup;
  readonly functions: Readonly<Record<string, ServiceFunction>>;

  constructor(scope: Construct, id: string, { stage, settings, resources, tokenIssuer }: ApiProps) {
    super(scope, id);
    const logs = { retention: settings.logRetention, removalPolicy: settings.removalPolicy };
    this.accessLog = new LogGroup(this, 'AccessLog', logs);
    this.restApi = new RestApi(this, 'RestApi', {
      restApiName: Stack.of(this).stackName,
      endpointTypes: [EndpointType.REGIONAL],
      minCompressionSize: Size.bytes(1024),
      // API Gateway writes logs only with a role set for the whole account and region. It outlives the stack: others may rely on it.
      cloudWatchRole: true,
      cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN,
      deployOptions: {
        stageName: stage,
        tracingEnabled: true,
        metricsEnabled: true,
        // Errors only, never data: why an authorizer or an integration failed is written nowhere else.
        loggingLevel: MethodLoggingLevel.ERROR,
        dataTraceEnabled: false,
        throttlingRateLimit: settings.throttle.rate,
        throttlingBurstLimit: settings.throttle.burst,
        accessLogDestination: new LogGroupLogDestination(this.accessLog),
        accessLogFormat: AccessLogFormat.custom(JSON.stringify(accessLogEntry)),
      },
    });
    this.restApi.node.tryRemoveChild('Endpoint');
    const { region, urlSuffix } = Stack.of(this);
    this.url = `https://${this.restApi.restApiId}.execute-api.${region}.${urlSuffix}/${stage}`;
    for (const [type, answer] of Object.entries<GatewayAnswer>(gatewayAnswers)) this.#addGatewayResponse(type, answer);

    const common = { resources, settings };
    const authorizerFunction = new ServiceFunction(this, 'Authorizer', {
      ...common,
      function: otherFunctions.authorizer,
      environment: {
        ISSUER: tokenIssuer.issuer,
        AUDIENCE: tokenIssuer.audience,
        JWKS_URI: tokenIssuer.jwksUri,
      },
    });
    const authorizer = new TokenAuthorizer(this, 'TokenAuthorizer', {
      handler: authorizerFunction,
      resultsCacheTtl: Duration.seconds(60),
    });
    const methodNotAllowed = new ServiceFunction(this, 'MethodNotAllowed', {
      ...common,
      function: otherFunctions.methodNotAllowed,
    });
    this.functions = { authorizer: authorizerFunction, methodNotAllowed };
    const configuration: Record<string, Record<string, string>> = {
      getResultsLink: { RESULTS_LINK_SECONDS: String(resultsLinkValidity.toSeconds()) },
    };
    const paths = new Map<Resource, string[]>();
    for (const [name, route] of Object.entries<Route>(routes)) {
      const handler = new ServiceFunction(this, name[0]!.toUpperCase() + name.slice(1), {
        ...common,
        function: route,
        environment: configuration[name] ?? {},
      });
      this.functions = { ...this.functions, [name]: handler };
      const resource = this.restApi.root.resourceForPath(route.path);
      resource.addMethod(
        route.method,
        new LambdaIntegration(handler, { allowTestInvoke: false }),
        route.public ? {} : { authorizer, authorizationType: AuthorizationType.CUSTOM },
      );
      paths.set(resource, [...(paths.get(resource) ?? []), route.method]);
    }
    for (const [resource, methods] of paths) {
      resource.addMethod('ANY', new LambdaIntegration(methodNotAllowed, { allowTestInvoke: false }));
      resource.addCorsPreflight({
        allowOrigins: ['*'],
        allowMethods: methods,
        allowHeaders: ['Authorization', 'Content-Type'],
        exposeHeaders: ['Content-Range', 'X-Request-Id'],
        maxAge: Duration.hours(1),
      });
    }
  }

  #addGatewayResponse(type: string, answer: GatewayAnswer) {
    const constants = {
      'Access-Control-Allow-Origin': '*',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      ...answer.headers,
    };
    this.restApi.addGatewayResponse(type, {
      type: ResponseType.of(type),
      statusCode: String(answer.status),
      responseHeaders: {
        ...Object.fromEntries(Object.entries(constants).map(([name, value]) => [name, `'${value}'`])),
        'X-Request-Id': 'context.requestId',
      },
      templates: { 'application/json': JSON.stringify(gatewayBody(answer)) },
    });
  }
}

/** One line of the access log: who asked what, what was answered, how long it took and, where the gateway itself failed, why. */
const accessLogEntry = {
  requestId: '$context.requestId',
  traceId: '$context.xrayTraceId',
  time: '$context.requestTimeEpoch',
  userId: '$context.authorizer.principalId',
  ip: '$context.identity.sourceIp',
  userAgent: '$context.identity.userAgent',
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

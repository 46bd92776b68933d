import { region, type Template } from './emulated-aws.ts';

/** Types of resources that the emulator refuses. A type that it knows by now leaves the list. */
const unknownTypes = ['AWS::Logs::QueryDefinition', 'AWS::SecretsManager::RotationSchedule', 'AWS::XRay::SamplingRule'];

/** Of each kind that the emulator refuses, one. */
export const refusedResources = [
  ...unknownTypes.map((Type) => ({ Type, Properties: {} })),
  {
    Type: 'AWS::CloudWatch::Alarm',
    Properties: {
      ComparisonOperator: 'GreaterThanThreshold',
      EvaluationPeriods: 1,
      Threshold: 1,
      Metrics: [{ Id: 'math', Expression: '1 + 1' }],
    },
  },
];

/** Replaces metric math. */
const simpleMetric = { Metrics: undefined, Namespace: 'Emulated', MetricName: 'Math', Statistic: 'Sum', Period: 60 };

/**
 * The template as the emulator can deploy it, which is changed in place: without what it refuses,
 * and with addresses of this machine where AWS has hosts of its own. `apiUrl` is where the API is
 * called.
 */
export function fitTemplate(template: Template, { endpoint, apiUrl }: { endpoint: string; apiUrl: string }): Template {
  const { Resources, Outputs } = template;
  for (const [id, { Type, Properties }] of Object.entries<Template>(Resources)) {
    if (unknownTypes.includes(Type)) delete Resources[id];
    // The emulator has no TLS.
    if (/^AWS::(S3::Bucket|SQS::Queue)Policy$/.test(Type)) {
      const { Statement } = Properties.PolicyDocument;
      Properties.PolicyDocument.Statement = Statement.filter(
        (each: object) => !/SecureTransport|TlsVersion/.test(JSON.stringify(each)),
      );
    }
    if (Type === 'AWS::CloudWatch::Alarm' && Properties.Metrics !== undefined) Object.assign(Properties, simpleMetric);
  }
  const idOf = (type: string) => Object.keys(Resources).find((id) => Resources[id].Type === type)!;
  const join = (...parts: unknown[]) => ({ 'Fn::Join': ['', parts] });
  const pool = { Ref: idOf('AWS::Cognito::UserPool') };
  for (const { Properties } of Object.values<Template>(Resources)) {
    const variables = Properties?.Environment?.Variables ?? {};
    if ('ISSUER' in variables) variables.ISSUER = join(`https://cognito-idp.${region}.amazonaws.com/`, pool);
    if ('JWKS_URI' in variables) variables.JWKS_URI = join(`${endpoint}/`, pool, '/.well-known/jwks.json');
  }
  nameSecretInRoles(Resources, idOf('AWS::SecretsManager::Secret'));
  const api = idOf('AWS::ApiGateway::RestApi');
  const answers = writeOut(api, Resources[api].Properties.Body);
  Object.assign(Resources, answers);
  Resources[idOf('AWS::ApiGateway::Deployment')].DependsOn = Object.keys(answers);
  Object.assign(Outputs, {
    RestApiId: { Value: { Ref: api } },
    ApiUrl: { Value: apiUrl },
    TokenEndpoint: { Value: `${endpoint}/oauth2/token` },
  });
  return template;
}

/** Policies need a secret's ARN. That is what a reference to it is on AWS; here it is its name. */
function nameSecretInRoles(resources: Template, secret: string) {
  const arn = ['arn:aws:secretsmanager:*:*:secret:', { Ref: secret }, '-??????'];
  for (const role of Object.values<Template>(resources).filter(({ Type }) => Type === 'AWS::IAM::Role')) {
    const text = JSON.stringify(role.Properties);
    role.Properties = JSON.parse(
      text.replaceAll(JSON.stringify({ Ref: secret }), JSON.stringify({ 'Fn::Join': ['', arn] })),
    );
  }
}

/**
 * Writes out extensions that the emulator's import passes over: an operation for each method
 * instead of one for any, and gateway responses, which are returned as resources.
 */
function writeOut(api: string, body: Template) {
  for (const path of Object.values<Template>(body.paths)) {
    const any = path['x-amazon-apigateway-any-method'];
    for (const method of ['get', 'put', 'post', 'patch', 'delete']) path[method] ??= any;
  }
  const answers = Object.entries<Template>(body['x-amazon-apigateway-gateway-responses']);
  return Object.fromEntries(
    answers.map(([type, { statusCode, responseParameters, responseTemplates }]) => [
      `GatewayResponse${type.replaceAll('_', '')}`,
      {
        Type: 'AWS::ApiGateway::GatewayResponse',
        Properties: {
          RestApiId: { Ref: api },
          ResponseType: type,
          StatusCode: String(statusCode),
          ResponseParameters: responseParameters,
          ResponseTemplates: responseTemplates,
        },
      },
    ]),
  );
}

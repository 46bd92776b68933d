import {
  DomainName,
  EndpointAccessMode,
  EndpointType,
  SecurityPolicy,
  type SpecRestApi,
} from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import type { Construct } from 'constructs';

/** An address of one's own for the API, which outlives the stack. */
export interface CustomDomain {
  readonly name: string;
  /** The ARN of its certificate, in the stack's region. */
  readonly certificate: string;
}

/** Without these an endpoint accepts TLS 1.0. Strict: the TLS handshake must name the endpoint. */
export const tls = {
  securityPolicy: SecurityPolicy.TLS13_1_2_PQ_2025_09,
  endpointAccessMode: EndpointAccessMode.STRICT,
} as const;

/**
 * Serves the API's stage at the domain, below `basePath`. Returns the name that the domain must
 * lead to in the DNS (CNAME or alias).
 */
export function createCustomDomain(
  scope: Construct,
  { name, certificate }: CustomDomain,
  { restApi, basePath }: { readonly restApi: SpecRestApi; readonly basePath: string },
): string {
  const domain = new DomainName(scope, 'Domain', {
    domainName: name,
    certificate: Certificate.fromCertificateArn(scope, 'Certificate', certificate),
    endpointType: EndpointType.REGIONAL,
    ...tls,
  });
  domain.addBasePathMapping(restApi, { basePath, stage: restApi.deploymentStage });
  return domain.domainNameAliasDomainName;
}

/** What the dashboard's body holds that a picture of it needs: CloudWatch's own format. */
export interface DashboardBody {
  readonly widgets: readonly Widget[];
}

export interface Widget {
  readonly type: string;
  /** Place and size, in a grid of 24 columns. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly properties: {
    readonly title: string;
    readonly alarms?: readonly string[];
    /** Namespace, name and dimensions of each metric, and at the end how it is shown. */
    readonly metrics?: readonly (readonly (string | MetricOptions)[])[];
  };
}

export interface MetricOptions {
  readonly label?: string;
  readonly stat?: string;
  readonly expression?: string;
  readonly visible?: boolean;
  readonly yAxis?: string;
}

interface Template {
  readonly Resources: Readonly<
    Record<
      string,
      {
        readonly Type: string;
        readonly Properties?: Readonly<Record<string, unknown>>;
        readonly Metadata?: Readonly<Record<string, unknown>>;
      }
    >
  >;
}

/**
 * The body of the template's one dashboard, in which a resource is named by the last part of its
 * construct's path.
 */
export function readDashboard({ Resources }: Template): DashboardBody {
  const dashboard = Object.values(Resources).find(({ Type }) => Type === 'AWS::CloudWatch::Dashboard');
  if (dashboard === undefined) throw new Error('The template has no dashboard.');
  const nameOf = (id: string) => {
    const path = String(Resources[id]?.Metadata?.['aws:cdk:path'] ?? id);
    return path
      .replace(/\/Resource$/, '')
      .split('/')
      .at(-1)!;
  };
  return JSON.parse(textOf(dashboard.Properties?.DashboardBody, nameOf)) as DashboardBody;
}

function textOf(value: unknown, nameOf: (id: string) => string): string {
  if (typeof value === 'string') return value;
  const [[name, argument] = ['', undefined]] = Object.entries(value as object) as [string, unknown][];
  switch (name) {
    case 'Fn::Join': {
      const [separator, parts] = argument as [string, unknown[]];
      return parts.map((part) => textOf(part, nameOf)).join(separator);
    }
    case 'Fn::GetAtt':
      return nameOf((argument as [string, string])[0]);
    case 'Ref':
      return nameOf(argument as string);
    default:
      throw new Error(`The dashboard holds ${name}, which nobody reads here.`);
  }
}

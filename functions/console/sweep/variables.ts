/** Which values the jobs of a sweep differ in. */

/** What is read of a job. */
export interface Varied {
  readonly id: string;
  readonly runs: number | null;
  readonly variables: Readonly<Record<string, unknown>> | null;
}

export interface Variable {
  /** As people write it: `omega`, or `omega[0]` for an element of a list. No two have one name. */
  readonly name: string;
  /** By the ids of jobs. Numbers, or the JSON of what is none. Jobs without it are left out. */
  readonly values: ReadonlyMap<string, number | string>;
  /** It is a number wherever it is. */
  readonly isNumeric: boolean;
}

export interface Variables {
  /** In the order of their first job. */
  readonly differing: readonly Variable[];
  readonly constant: readonly Variable[];
}

/** More elements of lists than these are not looked at. */
const maxVariables = 200;

/** The variables of jobs, and `runs`. A variable that only some jobs have differs. */
export function readVariables(jobs: readonly Varied[]): Variables {
  const found = new Map<string, Map<string, number | string>>();
  const take = (name: string, id: string, value: number | string) => {
    const values = found.get(name) ?? new Map<string, number | string>();
    if (found.size < maxVariables) found.set(name, values);
    values.set(id, value);
  };
  const lists = longLists(jobs);
  for (const { id, variables } of jobs) {
    for (const [name, value] of Object.entries(variables ?? {})) {
      const isList = Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'number');
      if (typeof value === 'number') take(name, id, value);
      else if (!isList) take(name, id, JSON.stringify(value));
      else if (!lists.has(name)) take(name, id, value[0]!);
      else for (const [at, each] of value.entries()) take(`${name}[${at}]`, id, each);
    }
  }
  // Programs may call a variable of their own so.
  const nameOfRuns = found.has('runs') ? 'runs of the job' : 'runs';
  for (const { id, runs } of jobs) if (runs !== null) take(nameOfRuns, id, runs);
  const variables = Array.from(found, ([name, values]) => ({
    name,
    values,
    isNumeric: [...values.values()].every((value) => typeof value === 'number'),
  }));
  const isConstant = ({ values }: Variable) => values.size === jobs.length && new Set(values.values()).size === 1;
  return {
    differing: variables.filter((each) => !isConstant(each)),
    constant: variables.filter(isConstant),
  };
}

/** Variables with several elements in some job. Pulser writes a single number as a list of one. */
function longLists(jobs: readonly Varied[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { variables } of jobs) {
    for (const [name, value] of Object.entries(variables ?? {})) {
      if (Array.isArray(value) && value.length > 1) found.add(name);
    }
  }
  return found;
}

/** The axes that a figure begins with. Two where the jobs are a grid over two variables. */
export function firstAxes(differing: readonly Variable[]): { readonly x?: Variable; readonly y?: Variable } {
  const numeric = differing.filter(({ isNumeric }) => isNumeric);
  const byCount = numeric.toSorted((a, b) => distinct(b.values.values()) - distinct(a.values.values()));
  const [x, y] = byCount;
  if (x === undefined) return {};
  if (y === undefined || distinct(y.values.values()) < 2) return { x };
  const pairs = distinct(Array.from(x.values, ([id, value]) => `${value} ${y.values.get(id)}`));
  return pairs >= 1.5 * distinct(x.values.values()) ? { x, y } : { x };
}

function distinct(values: Iterable<unknown>): number {
  return new Set(values).size;
}

const letters: Readonly<Record<string, string>> = {
  ...{ alpha: 'α', beta: 'β', gamma: 'γ', delta: 'δ', epsilon: 'ε', eta: 'η', theta: 'θ', kappa: 'κ', lambda: 'λ' },
  ...{ mu: 'µ', nu: 'ν', xi: 'ξ', rho: 'ρ', sigma: 'σ', tau: 'τ', phi: 'φ', chi: 'χ', psi: 'ψ', omega: 'ω' },
  ...{ Delta: 'Δ', Gamma: 'Γ', Theta: 'Θ', Lambda: 'Λ', Phi: 'Φ', Psi: 'Ψ', Omega: 'Ω' },
};

/** A variable as papers write it: `ω` for `omega`. */
export function symbolOf(name: string): string {
  const [, word = '', rest = ''] = /^([A-Za-z]+)([\d_[].*)?$/.exec(name) ?? [];
  return Object.hasOwn(letters, word) ? letters[word] + rest : name;
}

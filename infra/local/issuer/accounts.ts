import type { ProjectRole } from '../../../functions/project-roles.ts';

/** Someone who may ask the local issuer for tokens. */
export interface Account {
  readonly username: string;
  readonly password: string;
  /** The `sub` of the account's tokens. */
  readonly userId: string;
  /** What its tokens allow; by default what a person's tokens allow. */
  readonly scope?: string;
  /** What people call them; by default the username. */
  readonly name?: string;
  /** What the page to sign in at says of it; without it, the page does not offer the account. */
  readonly about?: string;
  /** The project that its tokens name, and its role there; without it, they name none. */
  readonly project?: { readonly id: string; readonly name: string; readonly role: ProjectRole };
}

/** Two accounts of the demo data, each with projects of its own. */
export const accounts = [
  {
    username: 'demo',
    password: 'demo',
    userId: '0f8d1c52-3b1e-4d59-9a53-6e2b7a1c4d10',
    about: 'Has most of the batches here',
  },
  {
    username: 'guest',
    password: 'guest',
    userId: '7c3a9b64-85f2-4e07-b1d8-2f90c6e5a381',
    about: 'Another user, to compare with',
  },
] as const satisfies readonly Account[];

const project = { id: '6f1b0a52-9d3c-4a7e-8c25-b1e4f7d2a903', name: 'Frustrated magnets' } as const;

/** The people of one project of the demo data, with a role each. */
export const projectAccounts = [
  {
    username: 'admin',
    password: 'admin',
    userId: 'c5a1f0de-2b47-4b8e-9f06-3d7e8a9b1c24',
    name: 'Ada Lovelace',
    about: 'Leads a project of three people',
    project: { ...project, role: 'admin' },
  },
  {
    username: 'member',
    password: 'member',
    userId: 'd6b2e1cf-3c58-4c9f-a017-4e8f9bac2d35',
    name: 'Max Born',
    about: 'Submits batches to the project',
    project: { ...project, role: 'member' },
  },
  {
    username: 'viewer',
    password: 'viewer',
    userId: 'e7c3d2be-4d69-4da0-b128-5f90acbd3e46',
    name: 'Vera Rubin',
    about: 'Reads what the project submits',
    project: { ...project, role: 'viewer' },
  },
] as const satisfies readonly Account[];

/** Who runs the machines: an operator, who may have batches as well. */
export const operatorAccount = {
  username: 'operator',
  password: 'operator',
  userId: 'operator',
  about: 'Runs the machines',
  scope: 'openid profile email operator',
} as const satisfies Account;

/** The machines that run the jobs: it may act for devices of every type, and owns nothing. */
export const deviceAccount = {
  username: 'device',
  password: 'device',
  userId: 'device',
  scope: 'device:*',
} as const satisfies Account;

import { SetupProblem } from '../../commands/setup-problem.ts';

/** The values of `$context` by their path: `requestId`, `error.messageString`. */
export type TemplateContext = Readonly<Record<string, string>>;

/**
 * Returns the template if `renderTemplate` understands it: of API Gateway's template language, only
 * `$context` variables. Otherwise it throws SetupProblem, which names `owner`.
 */
export function checkTemplate(owner: string, template: string): string {
  const unknown = /#(set|if|foreach|end)|\$(?!context\.)[a-zA-Z{!]+/.exec(template.replaceAll('\\$', ''))?.[0];
  if (unknown !== undefined) {
    throw new SetupProblem(`The local gateway does not understand ${unknown} in the template of ${owner}.`);
  }
  return template;
}

/** Replaces each `$context.…` by its value; a variable without one becomes empty. */
export function renderTemplate(template: string, context: TemplateContext): string {
  return template.replace(/\$context\.([a-zA-Z0-9_]+(?:\.[a-zA-Z0-9_]+)*)/g, (_, path: string) => context[path] ?? '');
}

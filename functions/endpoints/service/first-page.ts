import { mark } from '../../http/mark.ts';
import { escapeHtml, htmlReply } from '../../http/page.ts';
import type { HttpReply } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { registerPicture } from './register-picture.ts';

/** Where people go from the service's own address: name, line, and the path of its icon. */
const doors = [
  [routes.getConsole.path, 'Console', 'Your batches, results and devices, in a browser', 'M2.5 4h11M2.5 8h11M2.5 12h7'],
  [routes.getDocs.path, 'API', 'Every call, to read and to try', 'M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5'],
  [
    routes.getOpenApi.path,
    'OpenAPI document',
    'The same for programs',
    'M8 4C6.5 3 4.5 2.8 2.5 3v9.5c2-.2 4 0 5.5 1 1.5-1 3.5-1.2 5.5-1V3C11.5 2.8 9.5 3 8 4zM8 4v9.5',
  ],
] as const;

const icon = (path: string) => `<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d="${path}"/></svg>`;

/**
 * The page at the service's own address, which leads to the others. Its links begin with `base`,
 * the path of the stage: relative ones would depend on a slash at the end. It has the looks of the
 * console, whose stylesheet it loads, and runs nothing.
 */
export function firstPage(base: string): HttpReply {
  const items = doors.map(
    ([path, name, about, drawing]) =>
      `<li><a href="${escapeHtml(base + path)}">${icon(drawing)}<span><strong>${name}</strong> <small>${about}</small></span>${icon('m6.5 4 4 4-4 4')}</a></li>`,
  );
  const body = `<div class="outside">
<main class="welcome">
<div>
<p class="brand">${mark}<span>Quantum Batch</span></p>
<h1>Your atoms, one fair queue</h1>
<p class="lead">A cloud for neutral-atom computers that you run yourself. Send Pulser programs in batches: your machines run them in turn, and you get counts, plots and the program back.</p>
<nav class="doors" aria-label="Ways in">
<ul>
${items.join('\n')}
</ul>
</nav>
</div>
${registerPicture}
</main>
</div>`;
  return htmlReply({ title: 'Quantum Batch', body, stylesheet: `${base}${routes.getConsole.path}?file=page.css` });
}

import { createRequire } from 'node:module';
import { pageFunction } from '../../http/page.ts';
import { routes } from '../../routes.ts';

const { resolve } = createRequire(import.meta.url);

const noScript =
  'This page needs JavaScript. The same description, as OpenAPI: <a href="openapi.json">openapi.json</a>';

export const handler = pageFunction(
  { title: 'Quantum Batch API', body: `<div id="docs"><noscript>${noScript}</noscript></div>` },
  routes.getDocs.files.map((file) => resolve(file)),
);

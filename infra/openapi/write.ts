/** Writes openapi.json; run by `npm run openapi`. A test compares the file with the document. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openApiDocument } from './document.ts';

const document = await openApiDocument();
writeFileSync(join(import.meta.dirname, '../../openapi.json'), `${JSON.stringify(document, null, 2)}\n`);

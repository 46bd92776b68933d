import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readDashboard } from '../../infra/dashboard/dashboard-body.ts';
import { drawDashboard } from '../../infra/dashboard/picture.ts';
import { synthesize } from '../support/synthesize.ts';

const { text, ofType } = synthesize();
const body = readDashboard(JSON.parse(text));
const picture = drawDashboard(body);

describe('the picture of the dashboard', () => {
  it('is what docs/dashboard.svg holds: `npm run dashboard` writes it', () => {
    expect(readFileSync('docs/dashboard.svg', 'utf8')).toBe(picture);
  });

  it('shows every widget and every alarm of the template', () => {
    const alarms = ofType('AWS::CloudWatch::Alarm').map(({ path }) => path.split('/').at(-1)!);
    expect(alarms.length).toBeGreaterThan(20);
    for (const name of [...alarms, ...body.widgets.map(({ properties }) => properties.title)]) {
      expect(picture).toContain(`>${name}</text>`);
    }
  });

  it('puts no widget over another', () => {
    const places = [
      ...picture.matchAll(/<g transform="translate\((\d+) (\d+)\)">\n<rect [^>]*width="(\d+)" height="(\d+)"/g),
    ].map((match) => match.slice(1).map(Number) as [number, number, number, number]);
    expect(places).toHaveLength(body.widgets.length);
    for (const [at, [x, y, width, height]] of places.entries()) {
      for (const [otherX, otherY, otherWidth, otherHeight] of places.slice(at + 1)) {
        const isApart =
          otherX >= x + width || x >= otherX + otherWidth || otherY >= y + height || y >= otherY + otherHeight;
        expect(isApart).toBe(true);
      }
    }
  });
});

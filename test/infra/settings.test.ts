import { describe, expect, it } from 'vitest';
import cdk from '../../cdk.json' with { type: 'json' };
import { readSettings } from '../../infra/settings.ts';

const inFile = { dev: {}, prod: { devices: ['FRESNEL', 'EMU_MPS'], resultsDays: 365, issuer: 'https://a.example' } };

describe('readSettings', () => {
  it('takes what cdk.json has of the stage, and from the command line what that says instead', () => {
    const { stage, text } = readSettings({ settings: inFile, stage: 'prod', resultsDays: '30', alarmEmail: 'a@b.c' });
    expect([stage, text('devices'), text('resultsDays'), text('alarmEmail'), text('webAcl')]).toEqual([
      'prod',
      'FRESNEL,EMU_MPS',
      '30',
      'a@b.c',
      undefined,
    ]);
    expect(readSettings({ settings: inFile }).text('devices')).toBeUndefined();
  });

  it('takes an empty text for a value', () => {
    expect(readSettings({ settings: inFile, stage: 'prod', devices: '' }).text('devices')).toBe('');
  });

  it('describes what is used, and where it comes from', () => {
    expect(readSettings({ settings: inFile, stage: 'prod', resultsDays: '30' }).describe().split('\n')).toEqual([
      'Stage prod:',
      '  cdk.json, settings.prod.issuer=https://a.example',
      '  cdk.json, settings.prod.devices=FRESNEL,EMU_MPS',
      '  -c resultsDays=30, instead of 365 in cdk.json',
      expect.stringMatching(/^ {2}not set: audience, jwksUri, .*, tables$/),
    ]);
  });

  it.each([
    [{ device: 'FRESNEL' }, '-c device: there is no such setting. There are issuer, audience'],
    [{ 'tables-prod': '20261122T091500Z' }, '-c tables-prod: '],
    [{ settings: { prod: { device: 'FRESNEL' } } }, 'cdk.json, settings.prod.device: '],
    [{ settings: { production: {} } }, 'cdk.json, settings.production: there is no such setting. There are dev, prod.'],
    [{ settings: [] }, 'cdk.json, settings: it is an object'],
    [{ settings: { dev: 'devices=A' } }, 'cdk.json, settings.dev: it is an object.'],
    [{ settings: { dev: { devices: null } } }, 'cdk.json, settings.dev.devices: it is a text'],
    [{ settings: { dev: { devices: [['A']] } } }, 'cdk.json, settings.dev.devices: it is a text'],
    [{ stage: 7 }, '-c stage=7: the stages are dev and prod.'],
  ])('refuses %j, and names the place', (context, place) => {
    expect(() => readSettings(context)).toThrow(place);
  });

  it('leaves what belongs to the CDK alone', () => {
    const ofCdk = { 'cli-telemetry': false, 'availability-zones:account=1:region=eu-west-3': [], 'aws:cdk:x': true };
    expect(readSettings({ ...cdk.context, ...ofCdk }).stage).toBe('dev');
  });
});

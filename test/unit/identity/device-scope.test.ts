import { describe, expect, it } from 'vitest';
import { isDeviceScope, mayActFor, scopeFor } from '../../../functions/identity/device-scope.ts';

describe('mayActFor', () => {
  it.each([
    ['FRESNEL', ['device:FRESNEL']],
    ['FRESNEL', ['openid', 'device:EMU_MPS', 'device:FRESNEL']],
    ['FRESNEL', ['device:*']],
    ['a type with spaces', ['device:*']],
    ['Frésnel', ['device:*']],
  ])('lets act for %j a token with %j', (deviceType, scopes) => {
    expect(mayActFor(deviceType, scopes)).toBe(true);
  });

  it.each([
    ['FRESNEL', []],
    ['FRESNEL', ['']],
    ['FRESNEL', ['openid', 'FRESNEL', '*', 'device', 'device:', 'device/FRESNEL', 'device/*']],
    ['FRESNEL', ['device:FRESNEL_CAN1', 'device:FRESNE', 'device:fresnel', 'Device:FRESNEL', ' device:FRESNEL']],
    ['FRESNEL', ['xdevice:FRESNEL', 'device:F*', 'device:**', 'device:.*']],
    ['', ['device:', 'device:FRESNEL']],
    ['a b', ['device:a', 'b', 'device:a b']],
    ['a"', ['device:a"']],
  ])('lets not act for %j a token with %j', (deviceType, scopes) => {
    expect(mayActFor(deviceType, scopes)).toBe(false);
  });
});

describe('scopeFor', () => {
  it('names the type, where a scope can: it is part of a header', () => {
    expect(['FRESNEL', 'a b', 'a"', 'a\\', 'é', 'a\r\nb', ''].map(scopeFor)).toEqual([
      'device:FRESNEL',
      ...Array(6).fill('device:*'),
    ]);
  });
});

describe('isDeviceScope', () => {
  it('knows the scopes of devices', () => {
    expect(['device:FRESNEL', 'device:*', 'device:', 'device', 'adevice:x', ''].map(isDeviceScope)).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import { isGlobalUnicast } from '../../../functions/webhooks/global-unicast.ts';
import { words } from '../../support/words.ts';

const publicAddresses = words(`
  1.1.1.1 8.8.8.8 100.63.255.255 100.128.0.0 172.15.255.255 172.32.0.0 192.0.1.0 198.17.255.255
  198.20.0.0 223.255.255.255 2606:4700:4700::1111 2a00:1450:4001:80b::200e 2001:4860:4860::8888
  2001:200::1 ::ffff:8.8.8.8 ::ffff:808:808 0:0:0:0:0:ffff:8.8.8.8 64:ff9b::8.8.8.8 64:ff9b::808:808
  0064:ff9b:0000:0000:0000:0000:0808:0808
`);
const others = words(`
  0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.255
  169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.8 192.0.2.1 192.31.196.1 192.52.193.1
  192.88.99.1 192.168.1.1 192.175.48.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1
  239.255.255.255 240.0.0.1 255.255.255.255 :: ::1 ::2 ::7f00:1 ::127.0.0.1 ::ffff:127.0.0.1
  ::ffff:7f00:1 ::FFFF:A9FE:A9FE 0:0:0:0:0:ffff:10.0.0.1 ::ffff:0:127.0.0.1 ::ffff:0:8.8.8.8
  64:ff9b::127.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b::1 64:ff9b:: 64:ff9b::1:8.8.8.8 64:ff9b:1::8.8.8.8
  64:ff9b:1:fffe::a9fe:a9fe 100::1 1fff:ffff::1 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2
  2001:2::1 2001:10::1 2001:20::1 2001:1ff:ffff::1 2001:db8::1 2002:7f00:1::1 2002:808:808::1
  2620:4f:8000::1 3fff::1 3fff:fff:ffff::1 4000::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1
  fe80::1%eth0 febf::1 fec0::1 ff02::1 ff0e::1 2606:4700:4700::1111%1 localhost 1.1.1 1.1.1.1.
  0x08080808
`);

describe('isGlobalUnicast', () => {
  it('takes addresses that every host on the internet can reach', () => {
    expect(publicAddresses.filter((address) => !isGlobalUnicast(address))).toEqual([]);
  });

  it('refuses private, reserved and embedded ones, and what is no address', () => {
    expect([...others, ''].filter(isGlobalUnicast)).toEqual([]);
  });
});

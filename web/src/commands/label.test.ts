import { expect, test } from 'vitest';
import { labelOf } from './label.ts';

test.each([
  ['Shell', 'make -j8', 'Shell · make -j8'],
  ['bash', 'cd /srv && ls', 'bash · cd /srv && ls'],
  ['sleep', 'sleep 10; false', 'sleep 10; false'],
  ['htop', '/usr/bin/htop -d 5', '/usr/bin/htop -d 5'],
  ['my build', 'make', 'my build'],
  ['user@host: ~', 'make', 'user@host: ~'],
  ['mak', 'make', 'mak'],
])('%j while %j runs is %j', (title, command, label) => expect(labelOf(title, command)).toBe(label));

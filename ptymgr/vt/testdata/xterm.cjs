// Feeds output to headless xterm.js terminals. Each line of input is a JSON list of base64 strings, each for a terminal
// of its own; each line of output is the list of states these are in afterwards. Exits with 3 without the module.
'use strict';

let Terminal;
try {
  ({ Terminal } = require('@xterm/headless'));
} catch {
  process.exit(3);
}

const windowOptions = { getWinSizePixels: true, getCellSizePixels: true, getWinSizeChars: true };

async function run(base64) {
  const terminal = new Terminal({ cols: 80, rows: 24, allowProposedApi: true, logLevel: 'off', windowOptions });
  const core = terminal._core;
  const answers = [];
  let title = '';
  terminal.onTitleChange((text) => { title = text.replace(/\x7f/g, ''); });
  terminal.onData((data) => answers.push(data));
  // What a browser answers, and a terminal without a window only asks for.
  core._inputHandler.onColor((event) => { for (const c of event) if (c.type === 0) answers.push('color'); else color(c); });
  core._inputHandler.onRequestSendFocus(() => answers.push('focus'));
  core._inputHandler.onRequestWindowsOptionsReport(() => answers.push('window'));
  const colors = {};
  function color(c) {
    if (c.type === 1) colors[c.index] = c.color.join();
    else if (c.index !== undefined) delete colors[c.index];
    else for (let i = 0; i < 256; i++) delete colors[i];
  }
  await new Promise((done) => terminal.write(Buffer.from(base64, 'base64'), done));
  const { coreService, coreMouseService, _charsetService: sets, _bufferService: { buffers } } = core;
  const { sendFocus: focus, ...modes } = coreService.decPrivateModes;
  const state = {
    answers, title, colors,
    modes, focus, insert: coreService.modes.insertMode, hidden: coreService.isCursorHidden,
    newline: terminal.options.convertEol, blink: terminal.options.cursorBlink,
    mouse: coreMouseService.activeProtocol, coding: coreMouseService.activeEncoding,
    buffer: terminal.buffer.active.type,
    charset: sets.charset || null, level: sets.glevel, sets: [0, 1, 2, 3].map((g) => sets._charsets[g] || null),
    style: style(core._inputHandler._curAttrData),
    link: core._oscLinkService.getLinkData(core._inputHandler._curAttrData.extended.urlId)?.uri || '',
    screens: [buffers.normal, buffers.alt].map((b) => ({
      top: b.scrollTop, bottom: b.scrollBottom, saved: style(b.savedCurAttrData, true), charset: b.savedCharset || null,
    })),
  };
  terminal.dispose();
  return state;
}

function style(attr, saved) {
  const text = [attr.getFgColorMode(), attr.getFgColor(), attr.getBgColorMode(), attr.getBgColor()];
  for (const is of ['isBold', 'isDim', 'isItalic', 'isBlink', 'isInverse', 'isInvisible', 'isStrikethrough', 'isOverline', 'isProtected']) {
    text.push(attr[is]() ? 1 : 0);
  }
  if (saved) text.push(attr.fg & 0x10000000 ? 1 : 0);
  else text.push(attr.getUnderlineStyle(), attr.getUnderlineStyle() ? attr.getUnderlineColor() : 0);
  return text.join();
}

(async () => {
  let rest = '';
  for await (const chunk of process.stdin) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      const states = [];
      for (const output of JSON.parse(line)) states.push(await run(output));
      process.stdout.write(JSON.stringify(states) + '\n');
    }
  }
})();

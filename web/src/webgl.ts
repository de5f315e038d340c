let fast: boolean | undefined;

/**
 * Tells whether this browser draws WebGL 2 by a graphics processor. Done in software it is several times slower than
 * the DOM renderer of xterm.js.
 */
export function hasFastWebgl(): boolean {
  fast ??= probe();
  return fast;
}

function probe(): boolean {
  const gl = document.createElement('canvas').getContext('webgl2', { failIfMajorPerformanceCaveat: true });
  if (!gl) return false;
  // Chromium gives a context from its own software as well, and only the name tells.
  const names = gl.getExtension('WEBGL_debug_renderer_info');
  const renderer = String(gl.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  gl.getExtension('WEBGL_lose_context')?.loseContext(); // a browser has few of them
  return !/swiftshader|llvmpipe|softpipe|software|basic render/i.test(renderer);
}

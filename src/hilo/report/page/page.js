'use strict';
// Draws the charts of the page from its embedded JSON. Everything else on the page is plain HTML.
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const root = document.documentElement;

  const colours = data.colours;  // on a light and on a dark background
  const theme = () => (root.dataset.theme === 'dark' ? 'dark' : 'light');
  const colourOf = (agent) => colours[theme()][agent.colour % colours.light.length];
  const style = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const faded = (hex) => hex + '2b';
  const digits = (y) => (y === null ? '–' : Number(y.toPrecision(4)).toString());
  const grouped = (x) => String(Math.round(x)).replace(/\B(?=(\d{3})+$)/g, '\u202f');
  const spread = (half) => (half === null || half === undefined ? '' : ` ± ${digits(half)}`);

  // Where x stands on the axis. A logarithmic one has no place for episode 0: where episodes are few it
  // has one of its own, otherwise the value is not shown.
  const placeOf = (x, log, zero) => (log && x <= 0 ? zero : x);

  // The points of a curve, with their places in its lists.
  const points = (curve, metric, values, log, zero) => {
    const xs = curve.x || metric.x;
    const out = [];
    for (let i = 0; i < xs.length; ++i) {
      const x = placeOf(xs[i], log, zero);
      if (x !== undefined && values(i) !== null) out.push({x, y: values(i), i});
    }
    return out;
  };

  // The place of episode 0, and 1, 2, 3 and 5 times powers of ten.
  const fewTicks = (zero, most) => {
    const out = [zero];
    for (let power = 1; power <= most; power *= 10)
      for (const factor of [1, 2, 3, 5]) if (factor * power <= most) out.push(factor * power);
    return out.map((value) => ({value}));
  };

  class Figure {
    constructor(element) {
      this.element = element;
      this.experiment = data.experiments[Number(element.dataset.experiment)];
      this.spec = this.experiment.charts[Number(element.dataset.chart)];
      this.canvas = element.querySelector('canvas');
      this.hidden = new Set();
      for (const control of element.querySelectorAll('[data-control]'))
        control.addEventListener('change', () => this.draw());
      this.makeLegend();
      const details = element.querySelector('details.data');
      details.addEventListener('toggle', () => { if (details.open) this.fillTable(); });
    }

    setting(name) { return this.element.querySelector(`[data-control="${name}"]`)?.value; }
    // Only where episodes are few, and for curves over episodes.
    get zero() { return this.metric.xaxis ? undefined : this.experiment.beforeFirst; }
    episode(x) { return grouped(x === this.zero ? 0 : x); }
    get metric() { return this.spec.metrics[Number(this.setting('metric') || 0)]; }

    makeLegend() {
      const legend = this.element.querySelector('.legend');
      const drawn = new Set(this.spec.metrics.flatMap((m) => m.curves.map((c) => c.agent)));
      this.experiment.agents.forEach((agent, index) => {
        if (!drawn.has(index)) return;
        const button = document.createElement('button');
        button.type = 'button';
        button.dataset.agent = index;
        button.setAttribute('aria-pressed', 'true');
        button.innerHTML = '<svg width="26" height="10" aria-hidden="true"><line x1="0" y1="5" x2="26" y2="5" '
          + `stroke-width="3" ${agent.dashed ? 'stroke-dasharray="6 4"' : ''}/></svg><span></span>`;
        button.querySelector('span').textContent = agent.label;
        button.addEventListener('click', () => {
          const hide = !this.hidden.has(index);
          if (hide) this.hidden.add(index); else this.hidden.delete(index);
          button.setAttribute('aria-pressed', String(!hide));
          this.draw();
        });
        legend.append(button);
      });
    }

    datasets() {
      const metric = this.metric;
      const log = this.setting('axis') === 'log';
      const zero = this.zero;
      const band = this.setting('band');
      const sets = [];
      for (const curve of metric.curves) {
        if (this.hidden.has(curve.agent)) continue;
        const agent = this.experiment.agents[curve.agent];
        const colour = colourOf(agent);
        const dash = agent.dashed ? [7, 4] : [];
        const width = band === 'sd' ? curve.sd : band === 'interval' ? curve.half : null;
        const line = {borderColor: colour, borderDash: dash, borderWidth: 2, pointRadius: 0, pointHitRadius: 0};
        if (width) {
          const edge = {borderWidth: 0, pointRadius: 0, pointHitRadius: 0, kind: 'band'};
          sets.push({...edge, data: points(curve, metric, (i) => curve.mean[i] + width[i], log, zero),
            fill: '+1', backgroundColor: faded(colour)});
          sets.push({...edge, data: points(curve, metric, (i) => curve.mean[i] - width[i], log, zero), fill: false});
        }
        sets.push({...line, kind: 'mean', label: agent.label, curve,
          data: points(curve, metric, (i) => curve.mean[i], log, zero)});
        const marks = (metric.marks || []).filter((m) => m.agent === curve.agent && !(log && m.x <= 0));
        if (marks.length)
          sets.push({kind: 'mark', label: `${agent.label}, published`, showLine: false, borderColor: colour,
            backgroundColor: style('--ground'), borderWidth: 2, pointRadius: 5, pointStyle: 'circle',
            data: marks.map((m) => ({x: m.x, y: m.y, sd: m.sd}))});
      }
      if (metric.level) {
        const xs = metric.x;
        sets.push({kind: 'level', label: metric.level.label, borderColor: style('--quiet'), borderDash: [2, 3],
          borderWidth: 2, pointRadius: 0, pointHitRadius: 0,
          data: [xs.map((x) => placeOf(x, log, zero)).find((x) => x !== undefined), xs[xs.length - 1]]
            .map((x) => ({x, y: metric.level.value}))});
      }
      return sets;
    }

    options() {
      const metric = this.metric;
      const quiet = style('--quiet');
      const grid = {color: style('--grid'), borderColor: style('--line')};
      const title = (text) => ({display: true, text, color: quiet});
      const log = this.setting('axis') === 'log';
      return {
        animation: false, responsive: true, maintainAspectRatio: false, parsing: false, normalized: true,
        interaction: {mode: 'nearest', axis: 'x', intersect: false},
        scales: {
          x: {type: log ? 'logarithmic' : 'linear', title: title(metric.xaxis || 'high-fidelity episodes'), grid,
            ...(log && this.zero ? this.fewEpisodes() : {}),
            ticks: {color: quiet, maxRotation: 0, precision: 0, autoSkipPadding: 16, callback: (x) => this.episode(x)}},
          y: {title: title(metric.axis), grid, ticks: {color: quiet}},
        },
        plugins: {
          legend: {display: false},
          tooltip: {
            filter: (item) => item.dataset.kind !== 'band', itemSort: (a, b) => b.parsed.y - a.parsed.y,
            callbacks: {
              title: (items) => (items.length ? `${metric.xaxis || 'episode'} ${this.episode(items[0].parsed.x)}` : ''),
              label: (item) => this.tooltip(item),
            },
          },
        },
      };
    }

    // A logarithmic axis that begins at the place of episode 0 and ends where the curves do.
    fewEpisodes() {
      return {min: this.zero, bounds: 'data',
        afterBuildTicks: (axis) => { axis.ticks = fewTicks(this.zero, axis.max); }};
    }

    tooltip(item) {
      const set = item.dataset;
      const y = digits(item.parsed.y);
      if (set.kind === 'level') return `${set.label}: ${y}`;
      if (set.kind === 'mark') return `${set.label}: ${y} ± ${digits(item.raw.sd)} (sd)`;
      return `${set.label}: ${y}${spread(set.curve.half[item.raw.i])} (95 %)`;
    }

    draw() {
      this.chart?.destroy();
      this.element.dataset.metric = this.metric.id;
      this.chart = new Chart(this.canvas, {type: 'line', data: {datasets: this.datasets()}, options: this.options()});
      this.canvas.setAttribute('aria-label',
        `${this.metric.name} of ${this.metric.curves.length} agents over high-fidelity episodes; the numbers are in the table below`);
      for (const button of this.element.querySelectorAll('.legend button')) {
        const agent = this.experiment.agents[Number(button.dataset.agent)];
        button.querySelector('line').setAttribute('stroke', colourOf(agent));
      }
      const note = this.element.querySelector('.level');
      if (note) note.textContent = this.metric.level ? `Dotted line: ${this.metric.level.label}, ${digits(this.metric.level.value)}.` : '';
      if (this.element.querySelector('details.data').open) this.fillTable();
    }

    // One row for each episode, one column for each agent.
    fillTable() {
      const metric = this.metric;
      const table = this.element.querySelector('details.data table');
      // If the x axis is not episodes, each cell also gives the curve's x value.
      const own = (curve) => (metric.xaxis ? metric.x : curve.x || metric.x);
      const xs = [...new Set(metric.curves.flatMap(own))].sort((a, b) => a - b);
      const places = metric.curves.map((curve) => new Map(own(curve).map((x, i) => [x, i])));
      const cell = (tag, text) => Object.assign(document.createElement(tag), {textContent: text});
      const head = document.createElement('tr');
      head.append(cell('th', 'episode'));
      for (const curve of metric.curves) head.append(cell('th', this.experiment.agents[curve.agent].label));
      const body = document.createElement('tbody');
      for (const x of xs) {
        const row = document.createElement('tr');
        row.append(cell('th', grouped(x)));
        row.firstChild.scope = 'row';
        for (const [k, curve] of metric.curves.entries()) {
          const i = places[k].get(x);
          const missing = i === undefined || curve.mean[i] === null || curve.mean[i] === undefined;
          const where = metric.xaxis && !missing ? ` at ${grouped(curve.x[i])}` : '';
          row.append(cell('td', missing ? '–' : `${digits(curve.mean[i])}${spread(curve.half[i])}${where}`));
        }
        body.append(row);
      }
      for (const th of head.children) th.scope = 'col';
      const caption = cell('caption', `${metric.name}: mean ± half the 95 % interval over seeds${this.experiment.standIn ? ' (stand-in data)' : ''}`);
      const header = document.createElement('thead');
      header.append(head);
      table.replaceChildren(caption, header, body);
    }
  }

  const figures = [...document.querySelectorAll('figure.chart')].map((element) => new Figure(element));
  const drawAll = () => figures.forEach((figure) => { if (figure.chart) figure.draw(); });

  // A chart is drawn when it comes into view, and before printing.
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      watcher.unobserve(entry.target);
      figures.find((figure) => figure.element === entry.target).draw();
    }
  }, {rootMargin: '600px'});
  figures.forEach((figure) => watcher.observe(figure.element));

  const prefersDark = matchMedia('(prefers-color-scheme: dark)');
  const toggle = document.getElementById('theme');
  let chosen = null;
  const setTheme = (name) => {
    root.dataset.theme = name;
    toggle.textContent = name === 'dark' ? 'Light' : 'Dark';
    toggle.setAttribute('aria-label', `Switch to ${name === 'dark' ? 'light' : 'dark'} colours`);
    for (const line of document.querySelectorAll('[data-colour]'))
      line.style.color = colours[theme()][Number(line.dataset.colour) % colours.light.length];
    drawAll();
  };
  const follow = () => setTheme(chosen || (prefersDark.matches ? 'dark' : 'light'));
  toggle.addEventListener('click', () => { chosen = theme() === 'dark' ? 'light' : 'dark'; follow(); });
  prefersDark.addEventListener('change', follow);
  addEventListener('beforeprint', () => { setTheme('light'); figures.forEach((figure) => figure.draw()); });
  addEventListener('afterprint', follow);
  follow();
})();

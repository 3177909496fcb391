use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use vgdp_sim::{model::rules::*, model::world::*, scenario::*};
#[derive(Default)]
struct Id(u64);
impl Hasher for Id {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {}
    fn write_u64(&mut self, x: u64) {
        self.0 = x
    }
}
fn mum(a: u64, b: u64) -> u64 {
    let r = u128::from(a) * u128::from(b);
    (r as u64) ^ ((r >> 64) as u64)
}
fn fp(w: &World) -> u64 {
    let mut h = 0x9E3779B97F4A7C15u64;
    for part in w.bytes() {
        let mut c = part.chunks_exact(8);
        for x in &mut c {
            h = mum(h ^ u64::from_le_bytes(x.try_into().unwrap()), 0xD6E8FEB86659FD93);
        }
        let mut last = [0u8; 8];
        let r = c.remainder();
        last[..r.len()].copy_from_slice(r);
        h = mum(h ^ u64::from_le_bytes(last) ^ (r.len() as u64) << 56, 0xA0761D6478BD642F);
    }
    h
}
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let (n, t): (u8, u8) = (a[2].parse().unwrap(), a[3].parse().unwrap());
    let cap: usize = a[4].parse().unwrap();
    let mut s = Scenario::named(&a[1]).unwrap().scope(n, t);
    s.merges_enqueue = a.iter().all(|x| x != "unmerged");
    s.reports_progress = a.iter().any(|x| x == "progress");
    let setup = s.setup();
    let mut w = s.empty_cluster().unwrap();
    for x in s.prefix() {
        assert!(w.fire(&setup, x));
    }
    let mut seen: HashSet<u64, BuildHasherDefault<Id>> = HashSet::default();
    seen.insert(fp(&w));
    let mut level = vec![w];
    let mut actions = 0u64;
    let mut depth = 0;
    let mut rests = 0u64;
    let mut en = Enabled::default();
    let start = std::time::Instant::now();
    while !level.is_empty() {
        let mut next = Vec::new();
        for w in &level {
            let mut w0 = *w;
            w0.enabled(&setup, &mut en);
            if en.is_at_rest() {
                rests += 1;
            }
            for &x in en.iter() {
                actions += 1;
                let mut v = *w;
                assert!(v.fire(&setup, x));
                if seen.insert(fp(&v)) {
                    next.push(v);
                }
            }
        }
        level = next;
        depth += 1;
        if depth % 10 == 0 || level.is_empty() {
            eprintln!(
                "depth {depth} level {} worlds {} actions {actions} {:?}",
                level.len(),
                seen.len(),
                start.elapsed()
            );
        }
        if seen.len() > cap {
            println!("capped");
            break;
        }
    }
    println!(
        "{} {}x{}: worlds {} actions {} depth {} rests {} {:?} ({:.0} ns/action)",
        a[1],
        n,
        t,
        seen.len(),
        actions,
        depth,
        rests,
        start.elapsed(),
        start.elapsed().as_nanos() as f64 / actions as f64
    );
    if a.iter().any(|x| x == "dump") {
        for w in level.iter().step_by(level.len() / 4 + 1) {
            println!("{w:?}\n");
        }
    }
}

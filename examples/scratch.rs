use vgdp_sim::{invariants::*, run::*, scenario::*, scheduler::*, search::*};
fn main() {
    for s in Scenario::built_in() {
        let t = std::time::Instant::now();
        let c = hunt(&s, 1, 20_000);
        println!("== {} {} steps undecided {} {:?}", s.name, c.steps, c.undecided, t.elapsed());
        for f in &c.findings {
            println!(
                "  {} price {} run {} hits {} schedule of {}",
                INVARIANTS[f.invariant].id,
                f.price,
                f.run,
                c.broken[f.invariant],
                f.schedule.len()
            );
            if std::env::args().nth(1).as_deref() == Some(INVARIANTS[f.invariant].id)
                && std::env::args().nth(2).as_deref() == Some(s.name)
            {
                let r = observe(&s, &mut Replay::then_normal(&f.schedule), &mut |m| {
                    println!(
                        "      {:4} {:>5}s {}{:?}",
                        m.step,
                        m.time,
                        if (m.step as usize) < f.schedule.len() + 1 { "* " } else { "  " },
                        m.action
                    )
                });
                println!("{:?}", r.broken[f.invariant]);
            }
        }
    }
}
